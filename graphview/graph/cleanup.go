package graph

// A view or a watch that ends leaves all its objects to remove. Each Update removes a slice of
// them; see Graph.work.

// removeSources removes the claims of sources that were removed. It visits all nodes in turn, and a
// source joins at the present node: many sources that end together take one round.
type removeSources struct {
	next    nodeID // the last node that was visited
	rounds  int
	left    []removedSource // in the order in which they end
	removed map[SourceID]struct{}
}

// removedSource is a source of removeSources, which ends one round after its beginning.
type removedSource struct {
	id     SourceID
	of     source
	rounds int
	next   nodeID
}

func (c *removeSources) add(g *Graph, id SourceID, of source) {
	if len(c.left) == 0 {
		c.removed = make(map[SourceID]struct{})
		g.cleanups = append(g.cleanups, c)
	}
	c.left = append(c.left, removedSource{id: id, of: of, rounds: c.rounds + 1, next: c.next})
	c.removed[id] = struct{}{}
}

func (c *removeSources) step(g *Graph) (changed, done bool) {
	g.visits++
	if c.next++; c.next > g.nodes.next {
		c.next = 0
		c.rounds++
	} else {
		changed = c.unclaim(g, c.next)
	}
	for len(c.left) > 0 && c.rounds >= c.left[0].rounds && c.next >= c.left[0].next {
		of := c.left[0].of
		g.kinds.release(of.kind)
		g.resources.release(of.resource)
		delete(c.removed, c.left[0].id)
		c.left[0] = removedSource{}
		c.left = c.left[1:]
	}
	return changed, len(c.left) == 0
}

// unclaim removes the claims that removed sources have on a node, and reports whether there were any.
func (c *removeSources) unclaim(g *Graph, id nodeID) (changed bool) {
	if len(g.claims[id]) == 0 {
		claim := g.nodes.at(id).claim
		if _, changed = c.removed[claim]; changed {
			g.unclaim(id, claim)
		}
		return changed
	}
	for _, claim := range g.sourcesOf(id) {
		if _, removed := c.removed[claim]; removed {
			g.unclaim(id, claim)
			changed = true
		}
	}
	return changed
}

// lapsing changes the class of the objects that Lapse found.
type lapsing struct {
	now int64
	due []nodeID
}

func (c *lapsing) step(g *Graph) (changed, done bool) {
	g.visits++
	if len(c.due) == 0 {
		return false, true
	}
	id := c.due[0]
	c.due = c.due[1:]
	// The object may have changed since, or it is another one.
	next, has := g.lapses[id]
	if changed = has && next.at <= c.now; changed {
		g.setClass(id, next.then, lapse{})
	}
	return changed, len(c.due) == 0
}

// removeMembers deselects the members of a lens that none of its sources claims.
type removeMembers struct {
	l    *Lens
	next entryID
}

func (c *removeMembers) step(g *Graph) (changed, done bool) {
	l := c.l
	g.visits++
	if c.next++; l.closed || c.next > l.entries.next {
		l.removal = nil
		return false, true
	}
	p := l.entries.at(c.next)
	if changed = p.flags&member != 0 && !l.sees(p.node, 0); changed {
		g.countArcs(p.node)
		l.deselect(c.next)
	}
	return changed, false
}

// dropTombstones drops the tombstones of a lens up to a revision.
type dropTombstones struct {
	l   *Lens
	rev uint64
}

func (c *dropTombstones) step(g *Graph) (changed, done bool) {
	const most = 16
	g.visits += 2 * most
	switch {
	case c.l.closed:
		return false, true
	case c.l.late.Load() != nil:
		return false, false // its commit makes more of them
	}
	return false, c.l.dropTombstones(c.rev, most)
}

// closeLens releases the nodes and names that a closed lens pins.
type closeLens struct {
	l    *Lens
	next entryID
	arc  tombstoneID
}

func (c *closeLens) step(g *Graph) (changed, done bool) {
	l := c.l
	g.visits += 2
	switch {
	case c.next < l.entries.next:
		c.next++
		if n := l.entries.at(c.next).node; n != 0 {
			g.unpinNode(n)
		}
	case c.arc < l.tombstones.arcs.next:
		c.arc++
		if d := l.tombstones.arcs.at(c.arc); d.to != 0 {
			g.resources.release(d.resource)
			g.unpinSlot(d.to)
		}
	default:
		l.entries, l.tombstones = slab[entryID, entry]{}, tombstones{horizon: ^uint64(0)}
		return false, true
	}
	return false, false
}
