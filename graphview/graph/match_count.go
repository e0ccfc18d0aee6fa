package graph

// Where a holder's arcs are dropped, nothing in the graph says what its selectors
// match. So that this is known all the same, what they match of a slot is counted
// before and after its nodes change.

// matchCount is how many arcs each holder whose arcs are dropped would have to what is
// about to change.
type matchCount map[nodeID]int

// countMatches counts for a slot and, where that is a namespace's, for what is in it.
func (g *Graph) countMatches(id slotID) matchCount {
	if len(g.dropped) == 0 {
		return nil
	}
	t := make(matchCount)
	at := g.slots.at(id)
	for _, space := range [2]spaceID{at.space, 0} {
		if sc := g.scopeAt(at.kind, space); sc != nil {
			g.countSlotMatches(sc, id, t)
		}
	}
	if at.kind != g.namespaces {
		return t
	}
	space := g.spaces.find(at.name)
	if space == 0 {
		return t
	}
	for n, h := range g.dropped {
		if h.dropped == requirementsOfObject {
			continue
		}
		for kind := range g.byNamespace[n] {
			if sc := g.scopeAt(kind, space); sc != nil {
				g.visits += len(sc.slots)
				for _, slot := range sc.slots {
					t[n] += g.matchesOf(h, slot)
				}
			}
		}
	}
	return t
}

// countSlotMatches counts for the selectors that a scope has for a slot.
func (g *Graph) countSlotMatches(sc *scope, id slotID, t matchCount) {
	count := func(list []*selector) {
		for _, s := range list {
			if _, counted := t[s.owner]; s.holder.dropped != nil && s.holder.dropped != requirementsOfObject && !counted {
				t[s.owner] = g.matchesOf(s.holder, id)
			}
		}
	}
	count(sc.rest)
	if len(sc.anchored) == 0 {
		return
	}
	for n := g.slots.at(id).node; n != 0; n = g.nodes.at(n).sibling {
		for k, v := range g.labelsOf(n) {
			count(sc.anchored[pair{k, v}])
		}
	}
}

// matchesOf is how many arcs a holder's selectors would make to a slot: one for
// each type.
func (g *Graph) matchesOf(h *holder, id slotID) int {
	var types [Transitive + 1]bool
	count := 0
	for _, s := range g.matching(h, id) {
		if !types[s.typ] {
			types[s.typ] = true
			count++
		}
	}
	return count
}

// updateMatches takes in that a slot changed after before was counted.
func (g *Graph) updateMatches(id slotID, before matchCount) {
	if before == nil {
		return
	}
	after := g.countMatches(id)
	for n, h := range g.dropped {
		if by := after[n] - before[n]; by != 0 {
			g.setMatches(h, h.matches+by)
		}
	}
}
