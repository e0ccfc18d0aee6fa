package graph

// A few bytes may change very many arcs: another selector of an object that matches thousands, or
// another label of their namespace. Each Update makes one slice of such a change, as a separate
// revision. A slice compares the current selectors and labels, so it does not need to know the change.
// Until the last slice, no other change is allowed; see Graph.HasOpenUpdate. Only the slices of an Unhurried object
// let others change: an id that means another object by then, or none, does no harm, since its arcs become
// the right ones, and an object that comes or changes meanwhile is compared with the selectors of all.

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
	// of is a holder whose matches in slots have to be counted before an arc is made; nil for none. The first counted slots match,
	// with this number of matches.
	of               *holder
	counted, matches int
	// departing is the node that is removed after the last step, 0 for none.
	departing nodeID
}

// step visits one arc, or one pair of a holder and a slot.
func (c *selectorUpdate) step(g *Graph) (changed, done bool) {
	switch {
	case c.of != nil:
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
		if h := g.nodes.at(id).holder; h != nil {
			if c.slot == 0 {
				g.listOut(id, len(c.slots))
			}
			g.selectSlot(id, h, c.slots[c.slot])
			c.slot++
		} else {
			c.slot = len(c.slots)
		}
		if c.slot == len(c.slots) {
			c.holder, c.slot = c.holder+1, 0
		}
	}
	if c.of != nil || len(c.existing)+len(c.within) > 0 || c.holder < len(c.holders) && len(c.slots) > 0 {
		return false, false
	}
	g.finishRemoval(c.departing)
	if g.shared == c {
		g.shared = nil
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

// count counts the matches of a holder in one slot. After the last one, it drops the selectors if they match too much.
func (c *selectorUpdate) count(g *Graph) {
	id := c.holders[0]
	switch {
	case g.nodes.at(id).holder != c.of: // it has other selectors, or none
		c.of, c.holders = nil, nil
	case c.slot < len(c.slots):
		g.visits++
		if n := g.matchesOf(c.of, c.slots[c.slot]); n > 0 {
			c.slots[c.counted] = c.slots[c.slot]
			c.counted, c.matches = c.counted+1, c.matches+n
		}
		c.slot++
	case g.fits(id, c.matches):
		c.of, c.slots, c.slot = nil, c.slots[:c.counted], 0
	default:
		g.drop(id, c.matches)
		c.of, c.existing, c.holders = nil, nil, nil
	}
}

// If the selectors of a removed object match thousands, its arcs are removed first, in slices, as if
// only the selectors had been removed. The object is removed after them.

// deferRemoval reports whether the removal of a node waits until its arcs are removed. If so, it
// begins to remove them. source is the source that no longer sees the object.
func (g *Graph) deferRemoval(id nodeID, source SourceID) bool {
	if _, ok := g.departing[id]; ok {
		return true
	}
	h := g.nodes.at(id).holder
	if h == nil || len(g.claims[id]) > 0 || g.nodes.at(id).claim != source || g.atOnce(h.matches) {
		return false
	}
	there := g.selectedArcs(id)
	g.setHolder(id, nil)
	g.departing[id] = source
	g.openUpdates = append(g.openUpdates, &selectorUpdate{existing: there, departing: id})
	return true
}

// finishRemoval removes a node whose removal waits for its arcs, and reports whether there was one.
func (g *Graph) finishRemoval(id nodeID) bool {
	source, ok := g.departing[id]
	if ok {
		delete(g.departing, id)
		g.unclaim(id, source)
	}
	return ok
}
