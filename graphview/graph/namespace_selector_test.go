package graph

import "testing"

// TestHiddenTargetInANamespace: an arc by name and by labels of its target's namespace is
// counted once where a target that is not visible and the Namespace cease to be members, or
// begin to be, in one revision.
func TestHiddenTargetInANamespace(t *testing.T) {
	g := New(nil)
	var l *Lens
	var pods, maps, spaces SourceID
	g.Update(func() {
		l = g.NewLens()
		pods = watched(l, podKind, podsV1, ScopeNamespaced)
		maps = watched(l, mapKind, mapsV1, ScopeNamespaced)
		spaces = watched(l, NamespaceKind, namespacesV1, ScopeCluster)
		// Whatever the root refers to is hidden.
		l.SetRoots(true, Walk{Direction: Up})
		g.Set(pods, &Object{Namespace: "shop", Name: "p", Version: 1, Hash: 1})
		g.Set(spaces, &Object{Name: "shop", Version: 1, Hash: 1, Labels: map[string]string{"open": "yes"}})
		l.Select(g.Set(maps, &Object{Namespace: "shop", Name: "holder", Version: 1, Hash: 1, References: []Reference{
			{Type: Direct, To: podKind, Namespace: "shop", Scope: ScopeNamespaced, Name: "p", Field: "name"},
			{
				Type: Direct, To: podKind, AllNamespaces: true, Selector: &Selector{}, Field: "selector",
				Namespaces: &Selector{Requirements: []Requirement{{Key: "open", Op: Exists}}},
			},
		}}), Selection{Member: true, Root: true})
	})
	for _, step := range []struct { // one after the other
		members     bool
		wantMissing int // which is all arcs that are shown
	}{{false, 1}, {true, 0}, {false, 1}} {
		g.Update(func() {
			l.Select(g.Find(pods, "shop", "p"), Selection{Member: step.members})
			l.Select(g.Find(spaces, "", "shop"), Selection{Member: step.members})
		})
		absent := 0
		for _, n := range l.missing {
			absent += n.arcs
		}
		if c := l.Counts(); c.Vertices != 1 || c.Arcs != step.wantMissing || l.Missing() != step.wantMissing || absent != step.wantMissing {
			t.Errorf("members %t: %d vertices, %d arcs, %d of them to what is missing, %d needed; want 1 vertex and %d of each",
				step.members, c.Vertices, c.Arcs, absent, l.Missing(), step.wantMissing)
		}
	}
}
