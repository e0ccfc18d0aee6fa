package graph

import (
	"graphview.dev/graphview/budget"
)

// A selector of a few bytes may match every object of the cluster, so the arcs that selectors make are
// charged to the namespace of the object that holds them. If it may hold no more, the holders that match
// most lose their arcs first, until there is room again.

// holder is what a node with selectors has.
type holder struct {
	selectors []*selector
	space     spaceID // the node's
	// matches is how many arcs the selectors make, or would make were they not
	// dropped.
	matches int
	// requirements is how many have to be compared with one object at most, and
	// comparer finds them; nil for few selectors.
	requirements int
	comparer     *comparer
	// dropped is the bound for which they make none, nil if they do.
	dropped *budget.Bound
	changes hubLog
}

// namespaceUse is what the holders of one namespace match.
type namespaceUse struct {
	holders map[nodeID]*holder
	matches int // of all holders
	dropped int // holders without arcs
	hidden  int // matches of these
}

// Exceedance says that an object began or ceased to exceed a bound of its references.
type Exceedance struct {
	// Sources see the object, and Lenses have it as a member.
	Sources         []SourceID
	Lenses          []*Lens
	Namespace, Name string
	// Err names the bound, nil if there is none that the object exceeds.
	Err error
}

// Exceedances returns those of the last Update. They are valid until the next.
func (g *Graph) Exceedances() []Exceedance { return g.exceedances }

// Exceeded returns an error that names the bound that an object exceeds, as of the last revision;
// nil if it exceeds none. In Update.
func (g *Graph) Exceeded(id NodeID) error {
	if b := g.reportedBounds[nodeID(id)]; b != nil {
		return &budget.Exceeded{Bound: b}
	}
	return nil
}

// setHolder gives a node its selectors, which match nothing so far; without any it
// is no holder.
func (g *Graph) setHolder(id nodeID, selectors []*selector) *holder {
	n := g.nodes.at(id)
	if h := n.holder; h != nil {
		for _, s := range h.selectors {
			g.unindex(s)
		}
		g.setMatches(h, 0)
		ld := g.namespaceUses[h.space]
		if h.dropped != nil {
			ld.dropped--
			delete(g.dropped, id)
			g.judged[id] = struct{}{}
		}
		if delete(ld.holders, id); len(ld.holders) == 0 {
			delete(g.namespaceUses, h.space)
			g.payer.Pay(g.spaces.at(h.space), budget.Matches, 0)
		}
		n.holder = nil
	}
	if len(selectors) == 0 {
		return nil
	}
	h := &holder{selectors: selectors, space: g.slots.at(n.slot).space, changes: hubLog{horizon: g.rev}}
	ld := g.namespaceUses[h.space]
	if ld == nil {
		ld = &namespaceUse{holders: make(map[nodeID]*holder)}
		g.namespaceUses[h.space] = ld
	}
	ld.holders[id] = h
	n.holder = h
	g.compare(h)
	for _, s := range selectors {
		s.holder = h
		g.index(s)
	}
	return h
}

// setMatches stores how much a holder matches.
func (g *Graph) setMatches(h *holder, matches int) {
	if matches == h.matches {
		return
	}
	ld := g.namespaceUses[h.space]
	ld.matches += matches - h.matches
	if h.dropped != nil {
		ld.hidden += matches - h.matches
	}
	h.matches = matches
	g.review[h.space] = struct{}{}
}

// countMatch counts an arc that a selector began or ceased to make. Where arcs are
// dropped, updateMatches does.
func (g *Graph) countMatch(from nodeID, by int) {
	if h := g.nodes.at(from).holder; h != nil && h.dropped == nil {
		g.setMatches(h, h.matches+by)
	}
}

// enforce drops the arcs of holders that exceed a bound, and brings back those of
// holders that no longer do.
func (g *Graph) enforce() {
	g.enforceNames()
	for space := range g.review {
		ld := g.namespaceUses[space]
		if ld == nil || ld.dropped == 0 && g.payMatches(space, ld) {
			continue
		}
		over := g.overLimits(space, ld)
		for id, h := range ld.holders {
			if b := over[id]; b != nil && b != h.dropped {
				g.drop(id, h, b)
			}
		}
		for id, h := range ld.holders {
			if over[id] == nil && h.dropped != nil {
				g.restore(id, h)
			}
		}
		g.payMatches(space, ld)
	}
	clear(g.review)
	g.tellExceedances()
}

// payMatches charges for the arcs that the selectors of a namespace's objects make.
func (g *Graph) payMatches(space spaceID, ld *namespaceUse) bool {
	return g.payer.Pay(g.spaces.at(space), budget.Matches, (ld.matches-ld.hidden)*g.arcBytes)
}

// overLimits returns the holders of a namespace that exceed a bound, and the bound.
func (g *Graph) overLimits(space spaceID, ld *namespaceUse) map[nodeID]*budget.Bound {
	over := make(map[nodeID]*budget.Bound)
	var within []nodeID
	for id, h := range ld.holders {
		switch {
		case g.tooMany(h):
			over[id] = requirementsOfObject
		default:
			within = append(within, id)
		}
	}
	most := g.payer.Most(g.spaces.at(space), budget.Matches) / g.arcBytes
	if ld.matches <= most {
		return over
	}
	g.sortByNames(within, func(n nodeID) int { return ld.holders[n].matches })
	total := 0
	for _, id := range within {
		if total += ld.holders[id].matches; total > most {
			over[id] = budget.HeldBytes
		}
	}
	return over
}

// drop takes away the arcs that a holder's selectors make.
func (g *Graph) drop(id nodeID, h *holder, b *budget.Bound) {
	b.Exceed()
	if h.dropped == nil {
		ld := g.namespaceUses[h.space]
		ld.dropped++
		ld.hidden += h.matches
		g.dropped[id] = h
	}
	h.dropped = b
	g.judged[id] = struct{}{}
	has := g.selectedArcs(id)
	if !g.atOnce(len(has)) {
		g.openUpdates = append(g.openUpdates, &selectorUpdate{there: has})
		return
	}
	for _, a := range has {
		g.reselect(a)
	}
}

// restore makes the arcs of a dropped holder again.
func (g *Graph) restore(id nodeID, h *holder) {
	h.dropped = nil
	ld := g.namespaceUses[h.space]
	ld.dropped--
	ld.hidden -= h.matches
	delete(g.dropped, id)
	g.judged[id] = struct{}{}
	has := g.selectedArcs(id)
	g.setMatches(h, len(has))
	g.selectAll(id, h, has)
}

// selectedArcs lists the arcs that a node's selectors make.
func (g *Graph) selectedArcs(id nodeID) []arcID {
	var found []arcID
	for a := g.nodes.at(id).out; a != 0; a = g.arcs.at(a).nextOut {
		if g.arcs.at(a).flags&bySelector != 0 {
			found = append(found, a)
		}
	}
	return found
}

// tellExceedances records the objects whose bound changed since it was last reported.
func (g *Graph) tellExceedances() {
	g.exceedances = nil
	for id := range g.judged {
		n := g.nodes.at(id)
		now, before := g.boundOf(id), g.reportedBounds[id]
		if now != nil {
			g.reportedBounds[id] = now
		} else {
			delete(g.reportedBounds, id)
		}
		if now == before || !n.alive() {
			continue
		}
		s := g.slots.at(n.slot)
		x := Exceedance{Namespace: g.spaces.at(s.space), Name: s.name, Err: g.Exceeded(NodeID(id)), Sources: g.sourcesOf(id)}
		for l, e := range g.entriesOf(id) {
			if l.entries.at(e).flags&member != 0 {
				x.Lenses = append(x.Lenses, l)
			}
		}
		g.exceedances = append(g.exceedances, x)
	}
	clear(g.judged)
}

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
