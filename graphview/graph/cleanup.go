package graph

// A view or a watch that ends leaves all its objects to remove. Each Update removes a slice of
// them; see Graph.work.

// removeSource removes the claims of a source that was removed.
type removeSource struct {
	id   SourceID
	of   source
	next nodeID
}

func (c *removeSource) step(g *Graph) (changed, done bool) {
	g.visits++
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
	if c.l.closed {
		return false, true
	}
	const most = 16
	g.visits += 2 * most
	if done = c.l.dropTombstones(c.rev, most); done {
		c.l.releaseEmpty()
	}
	return false, done
}

// releaseEmpty releases the memory of a lens without entries and tombstones, since slabs and maps
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
