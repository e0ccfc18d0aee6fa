//go:build !race

package graph

import (
	"fmt"
	"testing"
)

// TestLapsesAreMadeInSlices: very many objects that lapse at once do so in many revisions.
func TestLapsesAreMadeInSlices(t *testing.T) {
	const objects, lenses, slice = 2_000, 20, sliceVisits*sliceChanges + 1_000
	c := newCrowd(0, 0)
	for i := range objects {
		c.g.Update(func() {
			c.set(c.pods, Object{Namespace: "shop", Name: fmt.Sprint("p", i), Class: 2, LapsesAt: 100, LapsesTo: 3})
		})
	}
	var last *Lens
	for range lenses {
		c.g.Update(func() { last = c.newLens() })
		for i := range objects {
			c.g.Update(func() { c.selects(last, c.pods, fmt.Sprint("p", i)) })
		}
	}
	c.change(func() { c.g.Lapse(100) })
	if c.most < lenses || c.most > slice || c.revisions < objects*lenses/slice {
		t.Errorf("%d revisions of up to %d visits, want at least %d of up to %d", c.revisions, c.most, objects*lenses/slice, slice)
	}
	if classes := last.Classes(); classes[3] != objects {
		t.Errorf("classes %v, want %d objects of class 3", classes, objects)
	}
}

// TestLapsedObjectsMayChange: an object that changed or was removed while it waits for its slice does
// not lapse.
func TestLapsedObjectsMayChange(t *testing.T) {
	c := newCrowd(0, 0)
	c.g.sliceChanges = 1
	name := func(i int) string { return fmt.Sprint("p", i) }
	var l *Lens
	c.change(func() {
		l = c.newLens()
		for i := range 100 {
			c.set(c.pods, Object{Namespace: "shop", Name: name(i), Class: 2, LapsesAt: 100, LapsesTo: 3})
			c.selects(l, c.pods, name(i))
		}
	})
	c.g.Update(func() { c.g.Lapse(100) })
	c.g.Update(func() { c.g.Lapse(100) })
	c.change(func() {
		for i := range 100 {
			if c.g.Remove(c.pods, "shop", name(i)); i%2 == 0 {
				c.set(c.pods, Object{Namespace: "shop", Name: name(i), Class: 1, LapsesAt: 200, LapsesTo: 3})
				c.selects(l, c.pods, name(i))
			}
		}
	})
	if classes := l.Classes(); classes[1] != 50 || classes[3] != 0 {
		t.Errorf("classes %v, want 50 objects of class 1 and none of class 3", classes)
	}
}

// TestSourcesEndInOneRound: many sources that end at once take about as many revisions as one.
func TestSourcesEndInOneRound(t *testing.T) {
	const sources, objects = 50, 20_000
	c := newCrowd(0, 0)
	c.g.Update(func() {
		for i := range objects {
			c.set(c.pods, Object{Namespace: "other", Name: fmt.Sprint("p", i)})
		}
	})
	revisions := func(ended int) int {
		var all []SourceID
		c.change(func() {
			for range ended {
				all = append(all, c.g.AddSource(podKind, podsV1, ScopeNamespaced))
			}
			for i, id := range all {
				c.set(id, Object{Namespace: "shop", Name: fmt.Sprint("p", i)}) // seen by it alone
				c.set(id, Object{Namespace: "shop", Name: "shared"})
			}
		})
		c.change(func() {
			for _, id := range all {
				c.g.RemoveSource(id)
			}
		})
		if nodes := c.g.Size().Nodes; nodes != objects+1 {
			t.Errorf("%d objects, want the %d of the other source and a Namespace", nodes, objects)
		}
		return c.revisions
	}
	if one, many := revisions(1), revisions(sources); many > 2*one {
		t.Errorf("%d sources end in %d revisions, one in %d, want at most twice as many", sources, many, one)
	}
}

// TestSourceEndsWhileOthersEnd: the claims of a source are removed whenever it ends.
func TestSourceEndsWhileOthersEnd(t *testing.T) {
	c := newCrowd(0, 0)
	c.g.sliceChanges = 4 // a slice has one object, or 32 visits
	var all []SourceID
	c.change(func() {
		for i := range 20 {
			all = append(all, c.g.AddSource(podKind, podsV1, ScopeNamespaced))
			for o := range 30 {
				c.set(all[i], Object{Namespace: "shop", Name: fmt.Sprint("p", i, "-", o)})
				c.set(all[i], Object{Namespace: "shop", Name: fmt.Sprint("shared-", o)})
			}
		}
	})
	before := c.g.Size()
	for _, id := range all {
		c.g.Update(func() { c.g.RemoveSource(id) })
		c.g.Update(func() {})
	}
	c.change(func() {})
	if after := c.g.Size(); before.Nodes != 20*30+30+1 || after.Nodes != 1 || after.Slots != 1 {
		t.Errorf("%+v became %+v, want only the Namespace", before, after)
	}
}

// TestNamesAreLimitedWhileSourcesLeave: sources that end all the time do not lift the limit of a
// namespace's references.
func TestNamesAreLimitedWhileSourcesLeave(t *testing.T) {
	const most, each, rounds, objects = 1_000, 900, 100, 20_000
	c := newCrowd(0, 0)
	c.g.Update(func() {
		for i := range objects {
			c.set(c.pods, Object{Namespace: "other", Name: fmt.Sprint("p", i)})
		}
	})
	c.g.limit(most, 1<<40)
	peak := 0
	for n := range rounds {
		var references []Reference
		for i := range each {
			references = append(references, Reference{Type: Direct, To: podKind, Namespace: "shop", Name: fmt.Sprint("absent-", n*each+i)})
		}
		c.g.Update(func() {
			c.g.RemoveSource(c.g.AddSource(mapKind, mapsV1, ScopeNamespaced))
			c.set(c.maps, Object{Namespace: "shop", Name: fmt.Sprint("m", n), References: references})
		})
		peak = max(peak, c.g.namedBytes(c.g.spaces.find("shop")))
	}
	if peak > most {
		t.Errorf("the namespace names %d, want at most %d", peak, most)
	}
}

// TestCleanupsTakeTurns: the removal of few objects does not wait for the removal of very many.
func TestCleanupsTakeTurns(t *testing.T) {
	const many = 5_000
	c := newCrowd(0, many+1)
	var large, small *Lens
	c.change(func() {
		large, small = c.newLens(), c.newLens()
		for i := range many {
			c.selects(large, c.pods, fmt.Sprint("p", i))
		}
		c.selects(small, c.pods, fmt.Sprint("p", many))
	})
	c.g.Update(func() {
		large.Unwatch(c.pods)
		small.Unwatch(c.pods)
	})
	for range 2 {
		c.g.Update(func() {})
	}
	if small.Vertices() > 0 || large.Vertices() == 0 {
		t.Errorf("after three revisions, the small view has %d members, the large one %d; want none and some", small.Vertices(), large.Vertices())
	}
	c.change(func() {})
}
