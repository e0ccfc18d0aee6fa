package graph

// A view or a watch that ends leaves as much behind as it had, and all readers wait for the
// writer. So each Update removes one slice of it.

// sliceChanges is the number of objects that one slice may change, as many as a batch of events
// has. sliceVisits is the number of visits for each of them.
const (
	sliceVisits  = 32
	sliceChanges = 512
)

// visitSlice visits objects until a slice of changes or visits is full, and reports whether all is
// done. A slice is a quarter of other slices, since each lens that showed a changed object visits its
// arcs.
func (g *Graph) visitSlice(visit func() (changed, done bool)) bool {
	mostChanges := max(1, g.sliceChanges/4)
	for before, changes := g.Visits(), 0; g.Visits()-before < sliceVisits*mostChanges && changes < mostChanges && !g.HasOpenUpdate(); g.visits++ {
		changed, done := visit()
		if done {
			return true
		}
		if changed {
			changes++
		}
	}
	return false
}

// cleanup is work of several Updates.
type cleanup interface {
	// slice does a part of the work, and reports whether all is done.
	slice() (done bool)
}

// HasCleanup reports whether further Updates, also empty ones, have slices to do. Only the writer
// calls it.
func (g *Graph) HasCleanup() bool { return len(g.cleanups) > 0 || g.HasOpenUpdate() }

// work does a slice of the first cleanup.
func (g *Graph) work() {
	if len(g.cleanups) > 0 && !g.HasOpenUpdate() && g.cleanups[0].slice() {
		g.cleanups = append(g.cleanups[:0], g.cleanups[1:]...)
	}
}

// removeSource removes the claims of a source that is gone.
type removeSource struct {
	g    *Graph
	id   SourceID
	of   source
	next nodeID
}

func (c *removeSource) slice() bool {
	g := c.g
	return g.visitSlice(func() (changed, done bool) {
		if c.next++; c.next > g.nodes.next {
			g.kinds.release(c.of.kind)
			g.resources.release(c.of.resource)
			return false, true
		}
		n := g.nodes.at(c.next)
		if changed = n.alive() && n.kind == c.of.kind && n.resource == c.of.resource && g.claimed(c.next, c.id); changed {
			g.unclaim(c.next, c.id)
		}
		return changed, false
	})
}

// removeMembers deselects the members that no source of a lens claims any more.
type removeMembers struct {
	l    *Lens
	next entryID
}

func (c *removeMembers) slice() bool {
	l := c.l
	return l.g.visitSlice(func() (changed, done bool) {
		if c.next++; l.closed || c.next > l.entries.next {
			l.removal = nil
			return false, true
		}
		p := l.entries.at(c.next)
		if changed = p.flags&member != 0 && !l.sees(p.node, 0); changed {
			l.g.countArcs(p.node)
			l.deselect(c.next)
		}
		return changed, false
	})
}

// dropTombstones drops the tombstones of a lens up to a revision.
type dropTombstones struct {
	l   *Lens
	rev uint64
}

func (c *dropTombstones) slice() bool {
	if c.l.closed {
		return true
	}
	done := c.l.dropTombstones(c.rev, 4*c.l.g.sliceChanges)
	if done {
		c.l.releaseEmpty()
	}
	return done
}

// releaseEmpty releases the memory of a lens that shows nothing and remembers nothing: slabs and maps
// do not shrink.
func (l *Lens) releaseEmpty() {
	if l.entries.len() > 0 || len(l.parts) > 0 || len(l.tombstones.order) > 0 {
		return
	}
	l.entries, l.index, l.parts = slab[entryID, entry]{}, index{}, make(map[entryID]part)
	l.log, l.tombstones.order = log{}, nil
}

// closeLens releases the nodes and names that a closed lens pins.
type closeLens struct {
	l    *Lens
	next entryID
	arc  tombstoneID
}

func (c *closeLens) slice() bool {
	l := c.l
	for range 4 * l.g.sliceChanges {
		switch {
		case c.next < l.entries.next:
			c.next++
			if n := l.entries.at(c.next).node; n != 0 {
				l.g.unpinNode(n)
			}
		case c.arc < l.tombstones.arcs.next:
			c.arc++
			if d := l.tombstones.arcs.at(c.arc); d.to != 0 {
				l.g.resources.release(d.resource)
				l.g.unpinSlot(d.to)
			}
		default:
			l.entries, l.tombstones = slab[entryID, entry]{}, tombstones{horizon: ^uint64(0)}
			return true
		}
	}
	return false
}
