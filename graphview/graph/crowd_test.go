package graph

import (
	"fmt"
	"time"
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
