package graph

// Where a holder's arcs are dropped, nothing in the graph says what its selectors
// match. So that this is known all the same, what they match of a slot is counted
// before and after its nodes change.

// tally is how many arcs each holder whose arcs are dropped would have to what is
// about to change.
type tally map[nodeID]int

// tallyOf counts for a slot and, where that is a namespace's, for what is in it.
func (g *Graph) tallyOf(id slotID) tally {
	if len(g.dropped) == 0 {
		return nil
	}
	t := make(tally)
	at := g.slots.at(id)
	for _, space := range [2]spaceID{at.space, 0} {
		if sc := g.selection[scopeKey{at.kind, space}]; sc != nil {
			g.tallySlot(sc, id, t)
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
		for i, s := range h.selectors {
			if s.sites == nil || containsKind(h.selectors[:i], s.kind) {
				continue
			}
			if sc := g.selection[scopeKey{s.kind, space}]; sc != nil {
				for _, slot := range sc.slots {
					t[n] += g.matchesOf(h, slot)
				}
			}
		}
	}
	return t
}

// containsKind tells whether a selector among these asks for a namespace's labels
// and for objects of the kind.
func containsKind(selectors []*selector, kind kindID) bool {
	for _, s := range selectors {
		if s.sites != nil && s.kind == kind {
			return true
		}
	}
	return false
}

// tallySlot counts for the selectors that a scope has for a slot.
func (g *Graph) tallySlot(sc *scope, id slotID, t tally) {
	count := func(list []*selector) {
		for _, s := range list {
			if _, counted := t[s.owner]; s.holder.dropped != nil && !counted {
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
	for _, s := range h.selectors {
		if !types[s.typ] && g.selectsSlot(s, id) {
			types[s.typ] = true
			count++
		}
	}
	return count
}

// recount takes in that a slot changed after before was counted.
func (g *Graph) recount(id slotID, before tally) {
	if before == nil {
		return
	}
	after := g.tallyOf(id)
	for n, h := range g.dropped {
		if by := after[n] - before[n]; by != 0 {
			g.setMatches(h, h.matches+by)
		}
	}
}

// countAll counts what a holder's selectors match.
func (g *Graph) countAll(h *holder) int {
	count := 0
	for i, s := range h.selectors {
		g.visitScope(s, func(to slotID) {
			if !g.selectsSlot(s, to) {
				return
			}
			for _, other := range h.selectors[:i] {
				if other.typ == s.typ && g.selectsSlot(other, to) {
					return
				}
			}
			count++
		})
	}
	return count
}
