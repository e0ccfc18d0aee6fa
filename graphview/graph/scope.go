package graph

import "cmp"

// setScope stores whether a kind is namespaced. References to it whose scope was unknown find their
// targets, in slices.
//
// A cluster-scoped kind that is now namespaced was deleted and created again. An arc to it does not
// store the namespace of its reference, so the object with the reference has to be read again; see
// Misplaced.
func (g *Graph) setScope(kind kindID, scope Scope) {
	before := g.scopes[kind]
	if before == scope {
		return
	}
	g.scopes[kind] = scope
	if g.slotsOf[kind] == 0 { // no arc leads to it, as before its first object
		return
	}
	switch {
	case scope == ScopeCluster:
		g.openUpdates = append(g.openUpdates, &rehoming{kind: kind})
	case before == ScopeCluster:
		g.noteMisplaced(kind)
	}
}

// noteMisplaced notes the objects that refer to a kind as cluster-scoped. It visits all names of the graph.
func (g *Graph) noteMisplaced(kind kindID) {
	found := make(map[nodeID]struct{})
	g.visits += int(g.slots.next)
	for id := slotID(1); id <= g.slots.next; id++ {
		if s := g.slots.at(id); s.kind == kind && s.space == clusterSpace {
			g.visits += int(s.arcs)
			for a := s.in; a != 0; a = g.arcs.at(a).nextIn {
				if arc := g.arcs.at(a); arc.flags&naming != 0 {
					found[arc.from] = struct{}{}
				}
			}
		}
	}
	for id := range found {
		g.misplaced = append(g.misplaced, g.unread(id))
	}
}

// rehoming moves the arcs to a kind that end in a namespace, since the kind is cluster-scoped. It visits
// all names of the graph.
type rehoming struct {
	kind kindID
	next slotID
	arcs []arcID // to the last slot
}

func (c *rehoming) step(g *Graph) (changed, done bool) {
	g.visits++
	if n := len(c.arcs); n > 0 {
		g.rehome(c.arcs[n-1])
		c.arcs = c.arcs[:n-1]
		return true, false
	}
	if c.next++; c.next > g.slots.next {
		return false, true
	}
	if s := g.slots.at(c.next); s.kind == c.kind && s.space != clusterSpace {
		g.visits += int(s.arcs)
		for a := s.in; a != 0; a = g.arcs.at(a).nextIn {
			c.arcs = append(c.arcs, a)
		}
	}
	return false, false
}

// Misplaced returns the objects that refer to a kind as cluster-scoped that AddSource found to be namespaced, each
// once. In Update.
func (g *Graph) Misplaced() []Unread {
	found := g.misplaced
	g.misplaced = nil
	return found
}

// rehome moves an arc to the cluster-scoped slot of its target's name.
func (g *Graph) rehome(id arcID) {
	a := *g.arcs.at(id)
	namedBy := g.namedBy(&a)
	g.paths.hold(namedBy)
	defer g.paths.release(namedBy)
	s := g.slots.at(a.to)
	to := g.slotFor(s.kind, clusterSpace, s.name)
	g.removeArc(id)
	other, steps := g.findArc(a.from, to, a.typ)
	g.visits += steps
	if other == 0 {
		other = g.addArc(a.from, to, a.typ)
	}
	b := g.touchArc(other)
	if a.uid() != 0 && b.uid() == 0 {
		b.word = a.uid()
	}
	g.describe(other, b.flags|a.flags&(naming|required|controller|block), cmp.Or(g.namedBy(b), namedBy))
}
