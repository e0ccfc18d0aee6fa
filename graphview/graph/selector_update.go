package graph

import (
	"slices"

	"graphview.dev/graphview/budget"
)

// A few bytes may change very many arcs: another selector of an object that matches thousands, or
// another label of their namespace. Each Update makes one slice of such a change, as a separate
// revision. A slice compares the current selectors and labels, so it does not need to know the change.
// Until the last slice, no other change is allowed; see Graph.HasOpenUpdate.

// selectorUpdate is the rest of one change. The arcs that selectors made before come first, then each
// pair of a holder and a slot: arcs are removed before others are added, so that their number stays
// within the bound.
type selectorUpdate struct {
	existing []arcID
	// within are slots whose arcs by labels of their namespace are not listed yet.
	within  []slotID
	holders []nodeID
	slots   []slotID
	holder  int
	slot    int
	// finds: the first step finds the slots of the holder of, since nothing else changes from then on.
	// counts: the number of its matches has to be known before an arc is made; counted is that number
	// so far.
	of      *holder
	finds   bool
	counts  bool
	counted int
	// onDone, if not nil, is called after the last step.
	onDone func()
}

// step visits one arc, or one pair of a holder and a slot.
func (c *selectorUpdate) step(g *Graph) (changed, done bool) {
	switch {
	case c.finds:
		c.find(g)
	case c.counts:
		c.count(g)
	case len(c.existing) > 0:
		if a := g.arcs.at(c.existing[0]); a.from != 0 && a.flags&removed == 0 {
			g.reselect(c.existing[0])
		}
		c.existing = c.existing[1:]
	case len(c.within) > 0:
		c.list(g)
	case c.holder < len(c.holders) && c.slot < len(c.slots):
		id := c.holders[c.holder]
		g.visits++
		if h := g.nodes.at(id).holder; h != nil && h.dropped == nil {
			g.selectSlot(id, h, c.slots[c.slot])
			c.slot++
		} else {
			c.slot = len(c.slots)
		}
		if c.slot == len(c.slots) {
			c.holder, c.slot = c.holder+1, 0
		}
	}
	if c.counts || len(c.existing)+len(c.within) > 0 || c.holder < len(c.holders) && len(c.slots) > 0 {
		return false, false
	}
	if c.onDone != nil {
		c.onDone()
	}
	return false, true
}

// list lists the arcs of one slot that selectors make for labels of its namespace.
func (c *selectorUpdate) list(g *Graph) {
	g.visits++
	for id := g.slots.at(c.within[0]).in; id != 0; id = g.arcs.at(id).nextIn {
		g.visits++
		if g.arcs.at(id).flags&byNamespaceLabel != 0 {
			c.existing = append(c.existing, id)
		}
	}
	c.within = c.within[1:]
}

// find finds the slots that the selectors of a holder may match.
func (c *selectorUpdate) find(g *Graph) {
	c.finds = false
	if g.nodes.at(c.holders[0]).holder != c.of {
		c.holders = nil // it has other selectors, or none
		return
	}
	c.slots = g.candidates(c.of)
	g.visits += len(c.slots)
}

// count counts the matches of a dropped holder in one slot.
func (c *selectorUpdate) count(g *Graph) {
	id, h := c.holders[0], c.of
	if g.nodes.at(id).holder != h {
		c.counts, c.holders = false, nil // it has other selectors, or none
		return
	}
	if c.slot < len(c.slots) {
		g.visits++
		c.counted += g.matchesOf(h, c.slots[c.slot])
		c.slot++
		return
	}
	c.counts, c.slot = false, 0
	if h.dropped != nil {
		g.setMatches(h, c.counted)
		c.existing, c.holders = nil, nil // drop removes the existing arcs
	}
}

// enforceDuringUpdate drops the arcs of holders that exceed a bound before the rest of a change in slices
// is made. Their matches are counted after that, and then enforce decides.
func (g *Graph) enforceDuringUpdate() {
	left := len(g.openUpdates)
	var counts []rest
	for space := range g.review {
		ld := g.namespaceUses[space]
		if ld == nil || ld.bytes <= g.payer.Most(g.spaces.at(space), budget.Matches) {
			continue
		}
		for id, b := range g.overLimits(space, ld) {
			if h := ld.holders[id]; h.dropped == nil {
				g.drop(id, h, b)
				counts = append(counts, &selectorUpdate{of: h, finds: true, counts: true, holders: []nodeID{id}})
			}
		}
	}
	if len(counts) > 0 {
		g.openUpdates = slices.Concat(g.openUpdates[left:], g.openUpdates[:left], counts)
	}
}
