package delivery

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

// TestHostileKeys: whatever the author of an object calls a key of it, a subscriber is sent
// JSON, with nothing in it that the operator does not say.
func TestHostileKeys(t *testing.T) {
	const ends = `"]}}],"synced":true,"reset":true,"x":["`
	type attributes struct {
		F, W []string
	}
	for name, test := range map[string]struct {
		key  string
		want []attributes
	}{
		"Word":  {"x\x00" + ends, nil},
		"Text":  {ends, []attributes{{F: []string{"spec['" + ends + "'].secretName"}, W: []string{"reads"}}}},
		"Plain": {"tls", []attributes{{F: []string{"spec.tls.secretName"}, W: []string{"reads"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "shop"}, "spec": map[string]any{test.key: map[string]any{"secretName": "a"}}})
			if err != nil {
				t.Fatal(err)
			}
			object := &fakeObject{uid: "uid-w", json: string(text)}
			tree, err := object.Tree()
			if err != nil {
				t.Fatal(err)
			}
			widget := graph.Kind{Group: "example.com", Kind: "Widget"}
			widgets := graph.Resource{Group: "example.com", Version: "v1", Resource: "widgets"}
			s := newStage(t)
			s.graph.Update(func() {
				of, secret := s.graph.AddSource(widget, widgets, graph.ScopeNamespaced), s.graph.AddSource(graph.Kind{Kind: "Secret"}, secrets, graph.ScopeNamespaced)
				s.lens.Watch(of)
				s.lens.Use(widget, widgets)
				s.lens.Watch(secret)
				s.lens.Use(graph.Kind{Kind: "Secret"}, secrets)
				id := s.graph.Set(of, &graph.Object{Namespace: "shop", Name: "w", UID: "uid-w", Version: 1, Hash: 1, Payload: object, References: refs.Builtin().Extract(widget, tree)})
				s.lens.Select(id, graph.Selection{Member: true, Root: true})
			})
			var got []attributes
			r := s.publisher.Subscribe(SubscribeOptions{Content: KeysOnly})
			defer r.Close()
			frames, _, err := r.Poll()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				var message struct {
					Actions []struct {
						Arc *struct{ A attributes } `json:"sarc"`
					}
					X any
				}
				if err := json.Unmarshal(f.JSON, &message); err != nil || message.X != nil {
					t.Fatalf("%v in %s", err, f.JSON)
				}
				for _, a := range message.Actions {
					if a.Arc != nil {
						got = append(got, a.Arc.A)
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("arcs (-want +got):\n%s", diff)
			}
		})
	}
}
