package graph

import (
	"fmt"
	"math"
	"testing"
	"time"

	"graphview.dev/graphview/budget"
)

// crowd is many objects of a namespace whose selectors match all of its many pods, as
// long as its Namespace has the label "open".
type crowd struct {
	g                  *Graph
	pods, maps, spaces SourceID
	version            uint64
	// The visits of all revisions of the last change and of the largest one, and the most arcs.
	revisions, total, most, peak int
	// longest is the time of the longest revision, if there is a clock.
	longest time.Duration
	clock   func() time.Duration
}

func newCrowd(holders, pods int) *crowd {
	c := &crowd{g: New(nil)}
	c.change(func() {
		c.pods = c.g.AddSource(podKind, podsV1, ScopeNamespaced)
		c.maps = c.g.AddSource(mapKind, mapsV1, ScopeNamespaced)
		c.spaces = c.g.AddSource(NamespaceKind, namespacesV1, ScopeCluster)
		c.label("closed")
	})
	for i := range pods {
		c.change(func() { c.set(c.pods, Object{Namespace: "shop", Name: fmt.Sprint("p", i)}) })
	}
	for i := range holders {
		c.change(func() { c.hold(fmt.Sprint("h", i)) })
	}
	return c
}

// hold sets an object that selects all pods of open namespaces.
func (c *crowd) hold(name string) {
	c.set(c.maps, Object{Namespace: "shop", Name: name, References: []Reference{{
		Type: Direct, To: podKind, AllNamespaces: true, Selector: &Selector{},
		Namespaces: &Selector{Requirements: []Requirement{{Key: "open", Op: Exists}}},
	}}})
}

// retry sets the objects again whose selectors were dropped and may have room.
func (c *crowd) retry() {
	for _, u := range c.g.RetryReferences() {
		c.hold(u.Name)
	}
}

// selects has a lens have an object in it.
func (c *crowd) selects(l *Lens, source SourceID, name string) {
	l.Select(c.g.Find(source, "shop", name), Selection{Member: true})
}

// newLens makes a lens of the pods and maps.
func (c *crowd) newLens() *Lens {
	l := c.g.NewLens()
	for _, id := range []SourceID{c.pods, c.maps} {
		l.Watch(id)
	}
	l.Use(podKind, podsV1)
	l.Use(mapKind, mapsV1)
	return l
}

func (c *crowd) set(source SourceID, o Object) {
	c.version++
	o.Version, o.Hash = c.version, c.version
	c.g.Set(source, &o)
}

func (c *crowd) label(label string) {
	c.set(c.spaces, Object{Name: "shop", Labels: map[string]string{label: "yes"}})
}

// change makes a change, in as many revisions as it takes.
func (c *crowd) change(fn func()) {
	c.revisions, c.total, c.most, c.peak, c.longest = 0, 0, 0, 0, 0
	for ; c.revisions == 0 || c.g.HasCleanup(); fn = func() {} {
		c.update(fn)
		c.revisions++
		c.total += c.g.Visits()
		c.most, c.peak = max(c.most, c.g.Visits()), max(c.peak, c.g.Size().Arcs)
	}
}

func (c *crowd) update(fn func()) {
	if c.clock == nil {
		c.g.Update(fn)
		return
	}
	began := c.clock()
	c.g.Update(fn)
	c.longest = max(c.longest, c.clock()-began)
}

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
