package client

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNarrow: a subscription asks for a part of a graph on each connection.
func TestNarrow(t *testing.T) {
	server, c := serve(t, act{sends: []string{`{"actions":[` + setA + `],"kinds":[{"g":"","v":"v1","r":"pods","k":"Pod"}],"rev":"1","synced":true}`}, stays: true})
	o := quick
	o.Narrow = &Narrow{
		Roots:     []Key{{Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: "web"}, {Version: "v1", Resource: "nodes", Name: "a"}},
		Direction: Both, Depth: 2,
	}
	s := c.Watch("shop", "web", o)
	defer s.Close()
	g, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for key := range g.Vertices {
		if kind := g.Clone().Kind(key); kind != "Pod" {
			t.Errorf("the kind of %v is %q", key, kind)
		}
	}
	if kind := g.Kind(Key{Resource: "nodes"}); kind != "" {
		t.Errorf("the kind of nodes is %q, which nobody said", kind)
	}
	want := url.Values{"root": {"deployments.apps/shop/web", "nodes/a"}, "direction": {"Both"}, "depth": {"2"}}
	if diff := cmp.Diff([]string{want.Encode()}, server.queries()); diff != "" {
		t.Error(diff)
	}
}

// TestPart: a part of a graph as it is now.
func TestPart(t *testing.T) {
	for name, tt := range map[string]struct {
		narrow  Narrow
		content Content
		want    url.Values
	}{
		"down, with summaries": {
			narrow:  Narrow{Roots: []Key{{Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: "web"}}, Depth: 1},
			content: ContentSummary,
			want:    url.Values{"root": {"deployments.apps/shop/web"}, "depth": {"1"}, "content": {"summary"}},
		},
		"up": {
			narrow: Narrow{Roots: []Key{{Resource: "nodes", Name: "a"}}, Direction: Up},
			want:   url.Values{"root": {"nodes/a"}, "direction": {"Up"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, c := serve(t, act{status: http.StatusOK, body: `{"actions":[` + setA + `],"rev":"1","synced":true}`})
			g, err := c.Part(t.Context(), "shop", "web", tt.narrow, tt.content)
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Vertices) != 1 || !g.Synced || g.Rev != "1" {
				t.Errorf("graph %+v", g)
			}
			if diff := cmp.Diff([]string{tt.want.Encode()}, server.queries()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
