package graph

// setScope stores whether a kind is namespaced. References to it whose scope was unknown find their
// targets.
//
// A cluster-scoped kind that is now namespaced was deleted and created again. An arc to it does not
// store the namespace of its reference, so the object with the reference has to be read again; see
// RetryReferences.
func (g *Graph) setScope(kind kindID, scope Scope) {
	before := g.scopes[kind]
	if before == scope {
		return
	}
	g.scopes[kind] = scope
	switch {
	case scope == ScopeCluster:
		for _, id := range g.arcsTo(kind, func(space spaceID) bool { return space != clusterSpace }) {
			g.rehome(id)
		}
	case before == ScopeCluster:
		for _, id := range g.arcsTo(kind, func(space spaceID) bool { return space == clusterSpace }) {
			if a := g.arcs.at(id); a.flags&naming != 0 {
				g.misplaced[a.from] = false
			}
		}
	}
}

// arcsTo returns the arcs to names of a kind in some namespaces. It visits all names of the graph,
// unless the kind has none, as before its first object.
func (g *Graph) arcsTo(kind kindID, in func(spaceID) bool) (found []arcID) {
	if g.slotsOf[kind] == 0 {
		return nil
	}
	g.visits += len(g.names.cells)
	for _, c := range g.names.cells {
		if s := g.slots.at(c.slot); s.kind == kind && in(s.space) {
			for a := s.in; a != 0; a = g.arcs.at(a).nextIn {
				found = append(found, a)
			}
		}
	}
	return found
}

// Misplaced returns the objects that refer to a namespaced kind as cluster-scoped, each once. In
// Update.
func (g *Graph) Misplaced() (found []Unread) {
	for id, reported := range g.misplaced {
		if !reported {
			g.misplaced[id] = true
			found = append(found, g.unread(id))
		}
	}
	return found
}

// rehome moves an arc to the cluster-scoped slot of its target's name.
func (g *Graph) rehome(id arcID) {
	a := *g.arcs.at(id)
	g.paths.hold(a.namedBy)
	defer g.paths.release(a.namedBy)
	s := g.slots.at(a.to)
	to := g.slotFor(s.kind, clusterSpace, s.name)
	g.removeArc(id)
	other, steps := g.findArc(a.from, to, a.typ)
	g.visits += steps
	if other == 0 {
		other = g.addArc(a.from, to, a.typ)
	}
	b := g.touchArc(other)
	b.flags |= a.flags & (naming | required | controller | block)
	if b.uid == 0 {
		b.uid = a.uid
	}
	if b.namedBy == 0 {
		g.setPaths(b, a.namedBy, b.fields)
	}
	g.setFields(other)
}
