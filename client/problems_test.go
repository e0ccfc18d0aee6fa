package client

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestProblems: the Go client groups problems as the table says, which the page can read too.
func TestProblems(t *testing.T) {
	text, err := os.ReadFile("testdata/problems.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests map[string]struct {
		Message Message
		Now     int64
		Want    []Problem
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var g Graph
			g.Apply(&tt.Message)
			if diff := cmp.Diff(tt.Want, g.Problems(time.Unix(tt.Now, 0)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProblemsOfManyOwners: thousands of objects below thousands of owners, all of them deleted, take no list of the
// owners of each.
func TestProblemsOfManyOwners(t *testing.T) {
	const owners, leaves = 500, 500
	key := func(i int) Key {
		return Key{Version: "v1", Resource: "configmaps", Namespace: "shop", Name: fmt.Sprintf("c%05d", i)}
	}
	var m Message
	for i := range owners + leaves {
		m.Actions = append(m.Actions, Action{SetVertex: &Vertex{Key: key(i), Summary: &Summary{Kind: "ConfigMap", Health: "terminating"}}})
		if i > 0 {
			m.Actions = append(m.Actions, Action{SetArc: &Arc{From: key(i), To: key(min(i, owners) - 1), Type: Owner, Attributes: Attributes{Controller: true}}})
		}
	}
	var g Graph
	g.Apply(&m)
	var found []Problem
	most := testing.AllocsPerRun(1, func() { found = g.Problems(time.Unix(0, 0)) })
	if len(found) != 1 || found[0].Object != key(0) || len(found[0].Stops) != owners+leaves-1 {
		t.Errorf("got %d problems", len(found))
	}
	if most > 100*(owners+leaves) {
		t.Errorf("%.0f allocations for %d objects", most, owners+leaves)
	}
}
