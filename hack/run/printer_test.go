package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrinter(t *testing.T) {
	const (
		pod     = `{"g":"","v":"v1","r":"pods","ns":"shop","n":"web"}`
		setting = `{"g":"","v":"v1","r":"configmaps","ns":"shop","n":"settings"}`
		arc     = `"s":` + pod + `,"d":` + setting + `,"t":"r"`
	)
	messages := []struct {
		text       string
		wantSynced bool
		want       string
	}{
		{
			text: `{"actions":[{"svx":{"vx":` + pod + `,"o":{}}},{"sarc":{` + arc + `,"a":{"e":true,"f":["spec.x"]}}}],"synced":true}`,
			want: "  + pods/web\n  + pods/web -r-> configmaps/settings  (spec.x, missing)\n  the graph is complete: 2 vertices and arcs\n", wantSynced: true,
		},
		{
			text: `{"actions":[{"svx":{"vx":` + pod + `}},{"darc":{` + arc + `}},{"dvx":{"vx":` + pod + `}}],"warnings":[{"t":"T","m":"why"}]}`,
			want: "  ~ pods/web\n  - pods/web -r-> configmaps/settings\n  - pods/web\n  ! T: why\n",
		},
		{
			text: `{"reset":true,"synced":true,"cleared":[{"t":"T"}],"error":{"reason":"Deleted","message":"view deleted"}}`,
			want: "  the server starts over\n  ! T is over\n  the stream ends: view deleted\n",
		},
	}
	var out strings.Builder
	p := newPrinter(&out)
	for _, message := range messages {
		out.Reset()
		synced, err := p.print([]byte(message.text))
		if err != nil {
			t.Fatal(err)
		}
		if synced != message.wantSynced {
			t.Errorf("synced %t, want %t", synced, message.wantSynced)
		}
		if diff := cmp.Diff(message.want, out.String()); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := p.print([]byte("hello")); err == nil {
		t.Error("no JSON is no error")
	}
}
