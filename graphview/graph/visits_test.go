package graph

import (
	"fmt"
	"testing"
)

// TestVisitsGrowWithTheChange: a revision visits its changes, for each lens that sees them, and
// does not walk through a lens for a kind without objects.
func TestVisitsGrowWithTheChange(t *testing.T) {
	const objects, lenses = 2_000, 20
	c, _ := filled(objects)
	var all []*Lens
	c.g.Update(func() {
		for range lenses {
			l := c.newLens()
			for n := nodeID(1); n <= c.g.nodes.next; n++ {
				l.Select(NodeID(n), Selection{Member: true, Hash: 1})
			}
			all = append(all, l)
		}
	})
	entries := int(all[0].entries.next)
	widget := Kind{Group: "example.com", Kind: "Widget"}
	for _, tt := range []struct { // one after the other, on one graph
		name   string
		change func()
		most   int
	}{
		{"nothing", func() {}, 0},
		{"a kind is installed, of which nothing is known", func() {
			c.g.AddSource(widget, Resource{Group: "example.com", Version: "v1", Resource: "widgets"}, ScopeNamespaced)
			for _, l := range all {
				l.Use(widget, Resource{Group: "example.com", Version: "v1", Resource: "widgets"})
			}
		}, 0},
		{"it is removed", func() {
			for _, l := range all {
				l.Unuse(widget)
			}
		}, 0},
		{"another version of a kind is watched by one view", func() {
			all[0].Use(Kind{Kind: "Pod"}, Resource{Version: "v2", Resource: "Pod"})
		}, entries},
		{"an object of which each view decides", func() {
			c.set("ConfigMap", "shop", "new", nil, nil)
			id := c.g.Find(c.sources["ConfigMap"], "shop", "new")
			for _, l := range all {
				l.Select(id, Selection{Member: true, Hash: 1})
			}
		}, 3 + 2*lenses},
		{"a view is explored from roots", func() { all[1].SetRoots(true, Walk{}) }, entries + 1},
		{"a view leaves out what is inferred", func() { all[3].SetInferred(false) }, entries + 1},
		{"a view goes", func() { all[2].Close() }, 0},
	} {
		visits := 0
		c.g.Update(func() {
			tt.change()
			visits = c.g.Visits()
		})
		if visits > tt.most {
			t.Errorf("%s: %d visits, want at most %d", tt.name, visits, tt.most)
		}
	}
	c.g.Update(func() {
		all[3].SetInferred(true)
		if visits := c.g.Visits(); visits < entries {
			t.Errorf("a view has what is inferred: %d visits, want at least its %d entries", visits, entries)
		}
	})
}

// TestHubsCountTheirArcs: a member that a view gains or loses counts with its arcs, and many of
// them are removed in slices.
func TestHubsCountTheirArcs(t *testing.T) {
	const hubs, pods = 4, 2_000
	c := newCrowd(0, 0)
	var references []Reference
	hub := func(i int) string { return fmt.Sprint("hub-", i) }
	for i := range hubs {
		references = append(references, Reference{Type: Direct, To: mapKind, Namespace: "shop", Scope: ScopeNamespaced, Name: hub(i)})
		c.change(func() { c.set(c.maps, Object{Namespace: "shop", Name: hub(i)}) })
	}
	var l *Lens
	c.change(func() { l = c.newLens() })
	for i := range pods {
		c.change(func() {
			name := fmt.Sprint("p", i)
			c.set(c.pods, Object{Namespace: "shop", Name: name, References: references})
			c.selects(l, c.pods, name)
		})
	}
	sel := func(i int, member bool) {
		c.change(func() { l.Select(c.g.Find(c.maps, "shop", hub(i)), Selection{Member: member}) })
		if c.most < pods {
			t.Errorf("hub %d becomes a member: %t; %d visits, want at least its %d arcs", i, member, c.most, pods)
		}
	}
	for i := range hubs {
		sel(i, true)
	}
	sel(0, false)
	c.g.sliceChanges = pods / sliceVisits
	c.change(func() { l.Unwatch(c.maps) })
	if c.revisions < hubs || c.most > 3*pods {
		t.Errorf("%d hubs went in %d revisions of at most %d visits, want at least %d of at most %d", hubs-1, c.revisions, c.most, hubs, 3*pods)
	}
}

// TestUnreachedHubIsSearchedOnce: if a selector matches many objects in a view whose roots reach none of them, the
// search for a path from the roots is not repeated for each arc.
func TestUnreachedHubIsSearchedOnce(t *testing.T) {
	const pods = 2_000
	c := newCrowd(0, pods)
	var l *Lens
	c.change(func() {
		l = c.newLens()
		l.SetRoots(true, Walk{})
		for p := range pods {
			c.selects(l, c.pods, fmt.Sprint("p", p))
		}
		c.set(c.maps, Object{Namespace: "shop", Name: "hub"})
		c.selects(l, c.maps, "hub")
	})
	spent := 0
	for fn := func() { c.set(c.maps, everyPod("hub")) }; spent == 0 || c.g.HasCleanup(); fn = func() {} {
		c.g.Update(fn)
		spent += c.g.spent
	}
	if arcs := c.g.Size().Arcs; arcs != pods || spent > 20*pods {
		t.Errorf("%d visits for %d arcs, want at most 20 for each of %d", spent, arcs, pods)
	}
}

// TestVisitsOfSelectors: an object with many selectors that loses them visits each list of selectors once, however many others
// are in it.
func TestVisitsOfSelectors(t *testing.T) {
	const others, own = 4000, 50
	for name, selector := range map[string]Selector{
		"that ask for no label": {}, "that ask for the same label": {Requirements: []Requirement{{Key: "app", Op: Exists}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(0, 0)
			hold := func(name string, n int) {
				o := Object{Namespace: "shop", Name: name}
				for i := range n {
					o.References = append(o.References, Reference{Type: Direct, To: podKind, AllNamespaces: true, Selector: &selector, Field: fmt.Sprint(i)})
				}
				c.set(c.maps, o)
			}
			for i := range others {
				c.g.Update(func() { hold(fmt.Sprint("h", i), 1) })
			}
			c.g.Update(func() { hold("many", own) })
			visits := 0
			c.g.Update(func() {
				c.g.Remove(c.maps, "shop", "many")
				visits = c.g.Visits()
			})
			if visits < others/listedOfVisit || visits > 2*(others+own)/listedOfVisit {
				t.Errorf("%d visits of %d selectors", visits, others)
			}
			if sc := c.g.scopeAt(c.g.kindFor(podKind), 0); len(sc.rest)+sc.crowd(hashOf("app", anyValue)) != others || sc.selectors != others {
				t.Errorf("%d selectors are left", sc.selectors)
			}
		})
	}
}
