//go:build !race

package graph

import (
	"fmt"
	"math"
	"testing"

	"graphview.dev/graphview/budget"
)

// TestManyHoldersAreMatchedInSlices: the matches of many objects' selectors are bounded in each
// revision, and so is the search for an arc between a holder and a pod that both have many.
func TestManyHoldersAreMatchedInSlices(t *testing.T) {
	const holders, pods, all, slice = 100, 300, 100 * 300, sliceVisits * sliceChanges
	const most = slice + 1_500 + all/requirementsOfVisit
	c := newCrowd(holders, pods)
	for _, tt := range []struct { // one after the other, on one graph
		name        string
		change      func()
		wantArcs    int
		wantAtLeast int // revisions
	}{
		{"all of them match", func() { c.label("open") }, all, 2 * all / slice},
		{"none matches", func() { c.label("closed") }, 0, all / slice},
		{"all of them again", func() { c.label("open") }, all, 2 * all / slice},
		{"the bound of the namespace is exceeded", func() {
			c.g.limit(math.MaxInt, all/10)
			c.set(c.pods, Object{Namespace: "shop", Name: "more"})
		}, all / 10 / (pods + 1) * (pods + 1), all / slice},
		{"it is not any more", func() {
			c.g.limit(math.MaxInt, 2*all)
			c.g.Remove(c.pods, "shop", "more")
			c.retry()
		}, all, 2 * all / slice},
		{"none matches again", func() { c.label("closed") }, 0, all / slice},
		{"all of them match, more than they may", func() {
			c.g.limit(math.MaxInt, all/10)
			c.label("open")
		}, all / 10, all / slice},
		{"they are tried again, and have no room", c.retry, all / 10, 1},
	} {
		before := c.g.Size().Arcs
		c.change(tt.change)
		if most := max(before, min(c.g.payer.Most("shop", budget.Matches), all)+slice); c.peak > most {
			t.Errorf("%s: up to %d arcs, want at most %d", tt.name, c.peak, most)
		}
		if got := c.g.Size().Arcs; got != tt.wantArcs {
			t.Errorf("%s: %d arcs, want %d", tt.name, got, tt.wantArcs)
		}
		if c.most > most || c.revisions < tt.wantAtLeast {
			t.Errorf("%s: %d revisions of up to %d visits, want at least %d of up to %d", tt.name, c.revisions, c.most, tt.wantAtLeast, most)
		}
	}
}

// TestObjectOverTheLimitCostsItsOwnNames: a change of an object whose references stay left out
// does not visit its namespace.
func TestObjectOverTheLimitCostsItsOwnNames(t *testing.T) {
	const objects = 2_000
	c := newCrowd(0, 0)
	c.g.limit(objects, math.MaxInt)
	for i := range objects / 2 {
		c.change(func() { c.set(c.maps, referring(fmt.Sprint("m", i), 1, Direct, OwnerReference)) })
	}
	c.change(func() { c.set(c.maps, referring("large", 3, Direct, OwnerReference)) })
	before := c.g.Size()
	for _, n := range []int{3, 3, 5, 5} {
		c.change(func() { c.set(c.maps, referring("large", n, Direct, OwnerReference)) })
		if most := 1 + 2*n; c.most > most {
			t.Errorf("%d visits for an object that names %d, want at most %d", c.most, 2*n, most)
		}
		if after := c.g.Size(); after != before {
			t.Errorf("the graph has %+v, want %+v as before", after, before)
		}
	}
	if id := c.g.Find(c.maps, "shop", "large"); c.g.Exceeded(id) == nil || c.g.namedBytes(c.g.spaces.find("shop")) != objects {
		t.Errorf("the object exceeds %v, and %d are named, want %d without its own", c.g.Exceeded(id), c.g.namedBytes(c.g.spaces.find("shop")), objects)
	}
	c.change(func() {
		c.g.Remove(c.maps, "shop", "m0")
		c.set(c.maps, referring("large", 1, Direct, OwnerReference))
	})
	if id := c.g.Find(c.maps, "shop", "large"); c.g.Exceeded(id) != nil || c.g.namedBytes(c.g.spaces.find("shop")) != objects {
		t.Errorf("with room, the object exceeds %v, and %d are named, want all %d", c.g.Exceeded(id), c.g.namedBytes(c.g.spaces.find("shop")), objects)
	}
}

// TestLargeNamespaceIsRelabelledInSlices: another label of a namespace with very many objects, of
// which one other selects all, is made in slices from the first look on.
func TestLargeNamespaceIsRelabelledInSlices(t *testing.T) {
	const pods, slice = 2*sliceVisits*sliceChanges + 1, sliceVisits * sliceChanges
	c := newCrowd(1, pods)
	for _, tt := range []struct { // one after the other, on one graph
		label    string
		wantArcs int
	}{{"open", pods}, {"closed", 0}} {
		if c.change(func() { c.label(tt.label) }); c.g.Size().Arcs != tt.wantArcs || c.most > slice+1_000 || c.revisions < 3 {
			t.Errorf("%s: %d arcs, %d revisions of up to %d visits; want %d arcs, at least 3 of up to %d",
				tt.label, c.g.Size().Arcs, c.revisions, c.most, tt.wantArcs, slice+1_000)
		}
	}
}
