package graph

import (
	"graphview.dev/graphview/budget"
)

// A selector of a few bytes may match every object of the cluster, so a namespace is charged for
// the arcs that the selectors of its objects make. If it may hold no more, the holders that match
// most lose their arcs first, until the others fit.

// holder has the selectors of a node.
type holder struct {
	selectors []*selector
	space     spaceID // the node's
	// matches is the number of arcs that the selectors make, or would make if they were not dropped.
	matches int
	// requirements is the largest number of requirements that have to be compared with one object.
	// comparer finds them; it is nil for few selectors.
	requirements int
	comparer     *comparer
	// dropped is the bound that the holder exceeds; its selectors then make no arcs.
	dropped *budget.Bound
	// selecting is Graph.selecting of the slot whose arcs were made last.
	selecting uint64
}

// namespaceUse is the memory of the matches of the holders of one namespace.
type namespaceUse struct {
	holders map[nodeID]*holder
	bytes   int // of all holders
	dropped int // number of holders without arcs
	hidden  int // bytes of the holders without arcs
}

// Exceedance reports an object that began or ceased to exceed a bound of its references.
type Exceedance struct {
	// Sources see the object, and Lenses have it as a member.
	Sources         []SourceID
	Lenses          []*Lens
	Namespace, Name string
	// Err names the bound that the object exceeds, nil if it exceeds none.
	Err error
}

// Exceedances returns the exceedances of the last Update. Removed objects are not among them, and objects that
// were removed and set again may not be: the caller forgets the bound of an object with Remove, and gets the
// reported one from Exceeded after Set. The slice is valid until the next Update.
func (g *Graph) Exceedances() []Exceedance { return g.exceedances }

// Exceeded returns an error that names the bound that an object exceeds, as of the last revision;
// nil if it exceeds none. In Update.
func (g *Graph) Exceeded(id NodeID) error {
	if b := g.reportedBounds[nodeID(id)]; b != nil {
		return &budget.Exceeded{Bound: b}
	}
	return nil
}

// setHolder replaces the selectors of a node, which match nothing so far. A node without selectors
// has no holder.
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
			g.boundChanged[id] = struct{}{}
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
	h := &holder{selectors: selectors, space: g.slots.at(n.slot).space}
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

// setMatches stores the number of matches of a holder, and updates the sums of its namespace.
func (g *Graph) setMatches(h *holder, matches int) {
	if matches == h.matches {
		return
	}
	ld, more := g.namespaceUses[h.space], (matches-h.matches)*g.arcBytes
	ld.bytes += more
	if h.dropped != nil {
		ld.hidden += more
	}
	h.matches = matches
	g.review[h.space] = struct{}{}
}

// countMatch counts an arc that a selector began (1) or ceased (-1) to make. For dropped holders,
// updateMatches counts.
func (g *Graph) countMatch(from nodeID, by int) {
	if h := g.nodes.at(from).holder; h != nil && h.dropped == nil {
		g.setMatches(h, h.matches+by)
	}
}

// enforce drops the arcs of holders that exceed a bound, and restores those of holders that no
// longer do.
func (g *Graph) enforce() {
	g.payNames()
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
	g.recordExceedances()
}

// payMatches charges for the arcs of a namespace's selectors, and reports whether it may hold them.
func (g *Graph) payMatches(space spaceID, ld *namespaceUse) bool {
	return g.payer.Pay(g.spaces.at(space), budget.Matches, ld.bytes-ld.hidden)
}

// overLimits returns the holders of a namespace that exceed a bound, with the bound of each.
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
	most := g.payer.Most(g.spaces.at(space), budget.Matches)
	if ld.bytes <= most {
		return over
	}
	g.sortByNames(within, func(n nodeID) int { return ld.holders[n].matches })
	total := 0
	for _, id := range within {
		if total += ld.holders[id].matches * g.arcBytes; total > most {
			over[id] = budget.HeldBytes
		}
	}
	return over
}

// drop removes the arcs that a holder's selectors make.
func (g *Graph) drop(id nodeID, h *holder, b *budget.Bound) {
	b.Exceed()
	if h.dropped == nil {
		ld := g.namespaceUses[h.space]
		ld.dropped++
		ld.hidden += h.matches * g.arcBytes
		g.dropped[id] = h
	}
	h.dropped = b
	g.boundChanged[id] = struct{}{}
	has := g.selectedArcs(id)
	if !g.atOnce(len(has)) {
		g.openUpdates = append(g.openUpdates, &selectorUpdate{existing: has})
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
	ld.hidden -= h.matches * g.arcBytes
	delete(g.dropped, id)
	g.boundChanged[id] = struct{}{}
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

// recordExceedances records the objects whose bound changed since it was last reported.
func (g *Graph) recordExceedances() {
	g.exceedances = nil
	for id := range g.boundChanged {
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
	clear(g.boundChanged)
}

// The graph does not have the arcs of a dropped holder, so they cannot be counted as they change.
// Instead, the matches of a slot are counted before and after the nodes of the slot change.

// matchCount is the number of arcs, by dropped holder, that the holder would have to the objects that
// are about to change.
type matchCount map[nodeID]int

// countMatches counts the matches of a slot and, for a Namespace, of the objects in it.
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

// countSlotMatches adds the matches of a slot for each dropped holder with a selector in the scope.
func (g *Graph) countSlotMatches(sc *scope, id slotID, t matchCount) {
	for n := g.slots.at(id).node; n != 0; n = g.nodes.at(n).sibling {
		for s := range g.compared(sc, g.labelsOf(n)) {
			if _, counted := t[s.owner]; s.holder.dropped != nil && s.holder.dropped != requirementsOfObject && !counted {
				t[s.owner] = g.matchesOf(s.holder, id)
			}
		}
	}
}

// matchesOf returns the number of arcs that a holder's selectors would make to a slot: one for each
// type.
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

// updateMatches counts the matches of a slot after it changed; before is the count before.
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
