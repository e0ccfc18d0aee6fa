package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelectorsVisitTheRarestLabel: selectors that are set after the objects visit the objects
// with the rarest label that they ask for.
func TestSelectorsVisitTheRarestLabel(t *testing.T) {
	const pods = 2000
	c := newCluster()
	c.g.Update(func() {
		for i := range pods {
			c.set("Pod", "space", fmt.Sprint("pod-", i), map[string]string{"tier": "front", "app": fmt.Sprint("app-", i/10)}, nil)
		}
	})
	in := func(key string, values ...string) Requirement { return Requirement{Key: key, Op: In, Values: values} }
	for name, tt := range map[string]struct {
		selectors   [][]Requirement
		wantAtMost  int
		wantMatches int
	}{
		"of one label":            {[][]Requirement{{in("app", "app-7")}}, 10, 10},
		"of the rarer label":      {[][]Requirement{{in("tier", "front"), in("app", "app-7", "app-8")}}, 20, 20},
		"of several labels":       {[][]Requirement{{in("app", "app-7")}, {in("app", "app-7", "app-9")}}, 20, 20},
		"of a label nobody has":   {[][]Requirement{{in("tier", "front"), in("app", "none")}}, 0, 0},
		"of everybody":            {[][]Requirement{{in("tier", "front")}}, pods, pods},
		"of what is not labelled": {[][]Requirement{{{Key: "app", Op: NotIn, Values: []string{"app-7"}}}}, pods, pods - 10},
	} {
		t.Run(name, func(t *testing.T) {
			var refs []Reference
			for _, requirements := range tt.selectors {
				refs = append(refs, Reference{Type: Direct, To: Kind{Kind: "Pod"}, Namespace: "space", Scope: ScopeNamespaced, Selector: &Selector{Requirements: requirements}})
			}
			c.g.Update(func() { c.set("Service", "space", "service", nil, refs) })
			h := c.g.nodes.at(nodeID(c.g.Find(c.sources["Service"], "space", "service"))).holder
			if n := len(c.g.candidates(h)); n > tt.wantAtMost || h.matches != tt.wantMatches {
				t.Errorf("%d objects are looked at and %d match, want at most %d and %d", n, h.matches, tt.wantAtMost, tt.wantMatches)
			}
		})
	}
}

func TestNodeSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s nodeSet
	want := map[nodeID]bool{}
	for i := range 20_000 {
		id := nodeID(1 + r.IntN(4000))
		if i < 3000 {
			id = nodeID(i + 1)
		}
		// In turns it grows and shrinks.
		if r.IntN(4) == 0 == (i/5000%2 == 0) {
			s.remove(id)
			delete(want, id)
		} else {
			s.add(id)
			want[id] = true
		}
		if i%500 > 0 {
			continue
		}
		var got []nodeID
		s.visit(func(id nodeID) { got = append(got, id) })
		if len(got) != len(want) || s.size != len(want) || !slices.IsSorted(got) || slices.ContainsFunc(got, func(id nodeID) bool { return !want[id] }) {
			t.Fatalf("after %d changes: %d nodes of %d, %d counted", i, len(got), len(want), s.size)
		}
		for _, c := range s.chunks {
			if len(c) == 0 || len(c) > chunkSize {
				t.Fatalf("a chunk of %d", len(c))
			}
		}
	}
}
