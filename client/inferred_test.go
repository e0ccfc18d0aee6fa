package client

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExcludeInferred: what is inferred is left out of whatever is asked for.
func TestExcludeInferred(t *testing.T) {
	exclude := quick
	exclude.ExcludeInferred = true
	whole := `{"actions":[` + setA + `],"rev":"1","synced":true}`
	server, c := serve(t,
		act{sends: []string{whole}}, act{sends: []string{`{"rev":"2","synced":true}`}, stays: true},
	)
	s := c.Watch("shop", "web", exclude)
	defer s.Close()
	for s.Graph().Rev != "2" {
		if _, err := s.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"inferred=false", "inferred=false&since=1"}, server.queries()); diff != "" {
		t.Error(diff)
	}

	server, c = serve(t, act{status: http.StatusOK, body: whole}, act{status: http.StatusOK, body: "digraph {}"})
	o := Options{Content: ContentSummary, ExcludeInferred: true, Narrow: &Narrow{Roots: []Key{{Resource: "nodes", Name: "a"}}}}
	if g, err := c.Snapshot(t.Context(), "shop", "web", o); err != nil || g.Rev != "1" {
		t.Errorf("snapshot %v, %v", g, err)
	}
	var out strings.Builder
	if err := c.Export(t.Context(), "shop", "web", "dot", Options{ExcludeInferred: true}, &out); err != nil || out.String() != "digraph {}" {
		t.Errorf("export %q, %v", out.String(), err)
	}
	if diff := cmp.Diff([]string{"content=summary&inferred=false&root=nodes%2Fa", "format=dot&inferred=false"}, server.queries()); diff != "" {
		t.Error(diff)
	}

	server, c = serve(t, act{reads: true, stays: true, sends: []string{`{"id":1,"channel":7}`, `{"channel":7,"rev":"1","synced":true}`}})
	r := c.Request(Request{Queries: []Query{}}, exclude)
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"id":1,"subscribe":{"request":{"queries":[]},"inferred":false}}`}, server.received); diff != "" {
		t.Error(diff)
	}
}
