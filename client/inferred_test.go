package client

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestExcludeInferred: arcs that only inferred references make are left out of every graph. One that
// something else made before is deleted.
func TestExcludeInferred(t *testing.T) {
	exclude := quick
	exclude.ExcludeInferred = true
	arc := func(to, fields string) string {
		return `{"sarc":{"s":{"g":"","v":"v1","r":"nodes","n":"a"},"d":{"g":"","v":"v1","r":"nodes","n":"` + to + `"},"t":"r","a":{"f":[` + fields + `]}}}`
	}
	guessed, both, declared := arc("b", `"inferred/spec.b"`), arc("c", `"inferred/spec.c","spec.c"`), arc("d", `"spec.d"`)
	whole := `{"actions":[` + strings.Join([]string{setA, guessed, both, declared}, ",") + `],"rev":"1","synced":true}`
	names := func(g *Graph) (to []string) {
		for _, key := range g.ArcKeys() {
			to = append(to, key.To.Name)
		}
		return to
	}
	server, c := serve(t, act{sends: []string{whole, `{"actions":[` + arc("c", `"inferred/spec.c"`) + `,` + guessed + `],"rev":"2"}`}, stays: true})
	s := c.Watch("shop", "web", exclude)
	defer s.Close()
	for _, want := range [][]string{{"c", "d"}, {"d"}} {
		g, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, names(g)); diff != "" {
			t.Errorf("arcs at rev %s (-want +got):\n%s", g.Rev, diff)
		}
	}
	if diff := cmp.Diff([]string{""}, server.queries()); diff != "" {
		t.Error(diff)
	}

	server, c = serve(t, act{status: http.StatusOK, body: whole}, act{status: http.StatusOK, body: whole})
	o := Options{Content: ContentSummary, ExcludeInferred: true, Narrow: &Narrow{Roots: []Key{{Resource: "nodes", Name: "a"}}}}
	if g, err := c.Snapshot(t.Context(), "shop", "web", o); err != nil || !slices.Equal(names(g), []string{"c", "d"}) {
		t.Errorf("snapshot %v, %v", g, err)
	}
	var out strings.Builder
	if err := c.Export(t.Context(), "shop", "web", "json", Options{ExcludeInferred: true}, &out); err != nil {
		t.Fatal(err)
	}
	if m, err := parseMessage([]byte(out.String())); err != nil || len(m.Actions) != 3 || m.Rev != "1" {
		t.Errorf("export %s, %v", out.String(), err)
	}
	if err := c.Export(t.Context(), "shop", "web", "dot", Options{ExcludeInferred: true}, &out); err == nil {
		t.Error("a format of the server is exported without inferred references")
	}
	if diff := cmp.Diff([]string{"content=summary&root=nodes%2Fa", ""}, server.queries()); diff != "" {
		t.Error(diff)
	}

	server, c = serve(t, act{reads: true, stays: true, sends: []string{`{"id":1,"channel":7}`, `{"channel":7,"rev":"1","synced":true}`}})
	r := c.Request(Spec{}, exclude)
	defer r.Close()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"id":1,"subscribe":{"spec":{"inferredReferences":"Exclude"}}}`}, server.received); diff != "" {
		t.Error(diff)
	}

	// The decoder also takes a member Actions, which a hostile server, or a hostile cluster of a fleet, may send.
	_, c = serve(t, act{sends: []string{`{"Actions":[` + guessed + `],"rev":"1"}`}, stays: true})
	exclude.OnRetry = func(err error, _ time.Duration) error { return err }
	hostile := c.Watch("shop", "web", exclude)
	defer hostile.Close()
	if _, err := hostile.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "member actions") {
		t.Errorf("other actions: %v", err)
	}
}
