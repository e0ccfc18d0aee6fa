package graph

import (
	"fmt"
	"testing"
)

// TestChangesOfManyEntriesAreCharged: one change that hides or shows all objects behind the one that it
// changes is reported for each lens that commits it, with its entries. A change of one object is not.
func TestChangesOfManyEntriesAreCharged(t *testing.T) {
	const leaves, lenses = 1_000, 3
	g := New(nil)
	kind, resource := Kind{Kind: "ConfigMap"}, Resource{Version: "v1", Resource: "configmaps"}
	var source SourceID
	var all []*Lens
	version := uint64(0)
	set := func(name, owner string) {
		g.Update(func() {
			version++
			o := &Object{Namespace: "shop", Name: name, UID: name, Version: version, Hash: version}
			if owner != "" {
				o.References = []Reference{{Type: OwnerReference, To: kind, Scope: ScopeNamespaced, Namespace: "shop", Name: owner, UID: owner}}
			}
			id := g.Set(source, o)
			for _, l := range all {
				l.Select(id, Selection{Member: true, Root: name == "top"})
			}
		})
	}
	g.Update(func() {
		source = g.AddSource(kind, resource, ScopeNamespaced)
		for range lenses {
			l := g.NewLens()
			l.Watch(source)
			l.Use(kind, resource)
			l.SetRoots(true, Walk{Direction: Down})
			all = append(all, l)
		}
	})
	set("top", "")
	set("other", "")
	set("middle", "top")
	for i := range leaves {
		set(fmt.Sprint("leaf-", i), "middle")
	}
	if walks := g.Walks(); len(walks) > 0 {
		t.Errorf("one more object is charged: %v", walks)
	}
	for _, owner := range []string{"other", "top"} {
		set("middle", owner)
		if walks := g.Walks(); len(walks) != lenses || walks[0].Visits < 5*leaves {
			t.Errorf("the owner is %s: charged %d times, want for each of %d lenses at least %d visits", owner, len(walks), lenses, 5*leaves)
		}
		if want := map[string]int{"other": 1, "top": leaves + 2}[owner]; all[0].Vertices() != want {
			t.Errorf("the owner is %s: %d vertices, want %d", owner, all[0].Vertices(), want)
		}
	}
}
