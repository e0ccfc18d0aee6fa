//go:build !race

package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamesAreDroppedWithTheirReferences: kinds, namespaces and paths in references are kept as
// long as a reference has them.
func TestNamesAreDroppedWithTheirReferences(t *testing.T) {
	g := New(nil)
	var maps SourceID
	g.Update(func() { maps = g.AddSource(mapKind, mapsV1, ScopeNamespaced) })
	set := func(version uint64, references []Reference) {
		o := Object{Namespace: "red", Name: "m", Version: version, Hash: version, References: references}
		g.Update(func() { g.Set(maps, &o) })
	}
	set(1, nil)
	before := g.Size()
	const each, updates = 4_000, 30
	for update := range uint64(updates) {
		references := make([]Reference, each)
		for i := range references {
			random := fmt.Sprintf("%d-%d", update, i)
			references[i] = Reference{Type: OwnerReference, To: Kind{"group-" + random, "Kind" + random}, Namespace: "ns-" + random, Name: random, Field: "path-" + random}
			if i%100 == 0 {
				references[i].Name, references[i].Selector = "", &Selector{}
			}
		}
		set(2+update, references)
		if size := g.Size(); size.Kinds > each+1 || size.Namespaces > each+1 || size.Paths > each || size.Slots > each+1 {
			t.Fatalf("after update %d: %+v", update, size)
		}
	}
	set(100, nil)
	if diff := cmp.Diff(before, g.Size()); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
	for name, n := range map[string]int{
		"values of kinds": len(g.kinds.values), "values of namespaces": len(g.spaces.values), "values of paths": len(g.paths.values),
		"scopes of selectors": len(g.selection) - 1, "paths by themselves": len(g.onePath),
	} {
		if n > 2*each {
			t.Errorf("%d %s are left", n, name)
		}
	}
	if len(g.onePath) != 0 || len(g.selection) != 1 || len(g.names) != before.Slots {
		t.Errorf("%d paths, %d places of selectors and %d names are left", len(g.onePath), len(g.selection), len(g.names))
	}
}

func TestTable(t *testing.T) {
	var tab table[kindID, string]
	a, b := tab.intern("a"), tab.intern("b")
	tab.hold(a)
	tab.hold(a)
	if again := tab.intern("a"); again != a || a == b {
		t.Fatalf("ids %d, %d, %d", a, b, again)
	}
	tab.release(a)
	var dropped []kindID
	tab.sweep(func(id kindID) { dropped = append(dropped, id) })
	if diff := cmp.Diff([]kindID{b}, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if tab.find("b") != 0 || tab.at(a) != "a" || tab.len() != 1 {
		t.Error("what is held went, or what is not stayed")
	}
	tab.release(a)
	tab.hold(tab.intern("a"))
	tab.sweep(nil)
	if tab.find("a") != a {
		t.Error("what is held again went")
	}
	if c := tab.intern("c"); c != b {
		t.Errorf("id %d, want that of what went", c)
	}
}
