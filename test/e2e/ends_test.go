package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"graphview.dev/test/patience"
)

func TestDeletedViewEndsStreams(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	for way, r := range roads(t) {
		t.Run(way, func(t *testing.T) {
			declare(t, namespace, "view", in(namespace, wholeView))
			s := subscribe(t, r, namespace, "view")
			s.synced(t)
			kubectl(t, "delete", "graphview", "-n", namespace, "view")
			s.wantEnd(t, websocket.StatusNormalClosure, "StatusNormalClosure", "the view was deleted")
			if got := r.refused(t, watchPath(namespace, "view")); got.Code != 404 {
				t.Errorf("opened again: %d %s, want 404", got.Code, got.Message)
			}
		})
	}
}

func TestMessageEndsStream(t *testing.T) {
	namespace := newNamespace(t)
	declare(t, namespace, "view", in(namespace, wholeView))
	for way, r := range roads(t) {
		t.Run(way, func(t *testing.T) {
			s := subscribe(t, r, namespace, "view")
			s.synced(t)
			s.send(t, `{"hello":"server"}`)
			s.wantEnd(t, websocket.StatusPolicyViolation, "StatusPolicyViolation", "unexpected message: this stream takes none from the client")
		})
	}
}

// A graph that cannot be opened is refused with a Status before any upgrade.
func TestRefusals(t *testing.T) {
	namespace := newNamespace(t)
	declare(t, namespace, "view", in(namespace, wholeView))
	const missing = "the server could not find the requested resource (get graphs.stream.graphview.dev)"
	for way, r := range roads(t) {
		for name, tc := range map[string]struct {
			path        string
			wantCode    int32
			wantMessage string
		}{
			"unknown view":        {watchPath(namespace, "nobody"), 404, `graphs.stream.graphview.dev "nobody" not found`},
			"snapshot of nobody":  {graphPath(namespace, "nobody"), 404, `graphs.stream.graphview.dev "nobody" not found`},
			"unknown namespace":   {watchPath("nowhere", "view"), 404, `graphs.stream.graphview.dev "view" not found`},
			"unknown resource":    {graphs + "/namespaces/" + namespace + "/graph/view", 404, missing},
			"unknown subresource": {graphPath(namespace, "view") + "/status", 404, missing},
			"collection to watch": {graphs + "/watch/namespaces/" + namespace + "/graphs", 405, "watch is not supported on resources of kind \"graphs.stream.graphview.dev\""},
		} {
			t.Run(way+"/"+name, func(t *testing.T) {
				got := r.refused(t, tc.path)
				if got.Code != tc.wantCode || got.Message != tc.wantMessage {
					t.Errorf("%d %q, want %d %q", got.Code, got.Message, tc.wantCode, tc.wantMessage)
				}
			})
		}
	}
	t.Run("own port/unknown version", func(t *testing.T) { // the API server's are its own affair
		got := ownPort(t).refused(t, "/apis/stream.graphview.dev/v9/namespaces/"+namespace+"/graphs/view")
		if got.Code != 404 || got.Message != missing {
			t.Errorf("%d %q, want 404 %q", got.Code, got.Message, missing)
		}
	})
}

// A subscriber that lost its connection gives the last rev back and gets the
// difference.
func TestResume(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	spec := in(namespace, wholeView)
	declare(t, namespace, "view", spec)
	for way, r := range roads(t) {
		t.Run(way, func(t *testing.T) {
			s := subscribe(t, r, namespace, "view")
			eventually(t, func() string { return s.Differs(expected(t, namespace, "view", spec)) })
			s.drop()
			kubectl(t, "create", "configmap", "-n", namespace, "away", "--from-literal=made=while-away")
			kubectl(t, "delete", "configmap", "-n", namespace, "other")
			s.resume(t)
			eventually(t, func() string { return s.Differs(expected(t, namespace, "view", spec)) })

			var got []string
			for _, m := range s.received() {
				if m.Reset {
					t.Error("the stream began anew")
				}
				for _, action := range m.Actions {
					got = append(got, describe(t, action))
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff([]string{"dvx configmaps/other", "svx configmaps/away"}, got); diff != "" {
				t.Errorf("actions after resuming (-want +got):\n%s", diff)
			}
			kubectl(t, "delete", "configmap", "-n", namespace, "away")
			kubectl(t, "create", "configmap", "-n", namespace, "other")
		})
	}
}

// describe is an action in short.
func describe(t *testing.T, action json.RawMessage) string {
	t.Helper()
	var members map[string]struct {
		Vertex struct {
			Resource string `json:"r"`
			Name     string `json:"n"`
		} `json:"vx"`
	}
	if err := json.Unmarshal(action, &members); err != nil {
		t.Fatal(err)
	}
	for verb, member := range members {
		return verb + " " + member.Vertex.Resource + "/" + member.Vertex.Name
	}
	return "nothing"
}

// An operator that stops tells its subscribers, and the next one resets them.
func TestOperatorStops(t *testing.T) {
	namespace := newNamespace(t)
	deploy(t, namespace)
	spec := in(namespace, rootedView)
	declare(t, namespace, "view", spec)
	streams := map[string]*stream{}
	for way, r := range roads(t) {
		streams[way] = subscribe(t, r, namespace, "view")
	}
	for _, s := range streams {
		s.synced(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
	defer cancel()
	if code := manager.Stop(ctx); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, s := range streams {
		s.wantEnd(t, websocket.StatusGoingAway, "StatusGoingAway", "the server is stopping")
	}
	if err := manager.Restart(); err != nil {
		t.Fatal(err)
	}
	// It may be too early to be served, but there is such a view.
	eventually(t, func() string {
		code, body, err := ownPort(t).tryGet(t.Context(), graphPath(namespace, "view"))
		if code == http.StatusNotFound {
			t.Fatalf("while the operator starts: %s", body)
		}
		if err != nil || code != http.StatusOK {
			return fmt.Sprintf("after the restart: %d %s %v", code, body, err)
		}
		return ""
	})
	waitServed(t)
	for way, s := range streams {
		s.resume(t)
		eventually(t, func() string { return s.Differs(expected(t, namespace, "view", spec)) })
		if first := s.received()[0]; !first.Reset {
			t.Errorf("%s: the first message after a restart is %.200s, want a reset", way, first.text)
		}
	}
}
