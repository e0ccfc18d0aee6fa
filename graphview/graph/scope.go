package graph

// setScope notes whether a kind lives in namespaces. References to it whose scope
// was unknown find their targets.
func (g *Graph) setScope(kind kindID, scope Scope) {
	if g.scopes[kind] == scope {
		return
	}
	g.scopes[kind] = scope
	if scope != ScopeCluster {
		return
	}
	var misplaced []arcID
	for _, c := range g.names.cells {
		if s := g.slots.at(c.slot); s.kind == kind && s.space != clusterSpace {
			for a := s.in; a != 0; a = g.arcs.at(a).nextIn {
				misplaced = append(misplaced, a)
			}
		}
	}
	for _, id := range misplaced {
		g.rehome(id)
	}
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
