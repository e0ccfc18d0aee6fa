package delivery

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
)

// TestKinds: each connection is told the kinds of the resources that the view watches
// once, and again when they are others, and not for other reasons.
func TestKinds(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	told := func(r *reader) (kinds []string) {
		t.Helper()
		for {
			frames, err := r.Poll()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				var m struct {
					Kinds []struct{ G, V, R, K string }
				}
				if err := json.Unmarshal(f.JSON, &m); err != nil {
					t.Fatalf("%v in %s", err, f.JSON)
				}
				for _, k := range m.Kinds {
					kinds = append(kinds, k.G+"/"+k.V+"/"+k.R+" "+k.K)
				}
				if len(m.Kinds) > 0 && string(f.Kinds) == "" {
					t.Errorf("the frame does not say which kinds are in it: %s", f.JSON)
				}
			}
			if !r.pause.moved {
				return kinds
			}
		}
	}
	first, late := s.reader(SubscribeOptions{}), s.reader(SubscribeOptions{Content: KeysOnly})
	wants := func(when string, r *reader, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, told(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	wants("at first", first, "/v1/pods Pod")
	s.set("Failed", false, "a", "b")
	wants("after a change of objects", first)
	s.graph.Update(func() {
		s.lens.Use(graph.Kind{Group: "apps", Kind: "Deployment"}, graph.Resource{Group: "apps", Version: "v1", Resource: "deployments"})
	})
	s.set("Running", false, "a")
	wants("after a change of resources", first, "/v1/pods Pod", "apps/v1/deployments Deployment")
	wants("another's first", late, "/v1/pods Pod", "apps/v1/deployments Deployment")
	s.set("Failed", false, "a")
	wants("after one more change", first)
}

// TestKindsAreSent: a waiting subscriber is notified when the view watches another kind, even if
// the kind has no objects and the graph does not change.
func TestKindsAreSent(t *testing.T) {
	s := newStage(t)
	s.set("Running", false, "a")
	r := s.reader(SubscribeOptions{})
	defer r.Close()
	r.catchUp(t)
	before := r.state.kinds
	s.graph.Update(func() { s.lens.Use(graph.Kind{Kind: "Widget"}, graph.Resource{Version: "v1", Resource: "widgets"}) })
	select {
	case <-r.pause.changed:
	default:
		t.Fatal("nobody is told")
	}
	r.catchUp(t)
	if r.state.kinds == before {
		t.Error("it has the kinds from before")
	}
}
