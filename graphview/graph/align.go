package graph

// A few bytes may change very many arcs: another selector of an object that matches
// thousands, another label of their namespace. Everybody waits for the writer, so such
// a change is made in slices, of which each Update does one, and each is a revision.
// What selectors match decides alone, whenever a slice is done, so that slices need not
// know what the change was. Nothing else may change meanwhile; see Graph.Unfinished.

// alignment is what is left of one change: arcs of holders to slots. First come pairs,
// then each holder with each slot. Arcs that may have to go are first, so that no more
// are there than a bound allows.
type alignment struct {
	pairs   []arcEnds
	holders []nodeID
	slots   []slotID
	holder  int
	slot    int
	// counted is how much the one holder matches of what was looked at, if that has to
	// be known before an arc is made.
	counts  bool
	counted int
	of      *holder
}

// arcEnds are those of an arc that selectors make, or may make.
type arcEnds struct {
	from nodeID
	to   slotID
}

// Unfinished tells whether the last Update left something of a change to be made. Until
// it is false, an Update may do nothing else. It is for the writer.
func (g *Graph) Unfinished() bool { return len(g.alignments) > 0 }

// atOnce tells whether so many arcs may be looked at in one revision.
func (g *Graph) atOnce(arcs int) bool { return arcs*(1+len(g.lenses)) <= sliceVisits*g.sliceChanges }

// endsOf are the ends of arcs.
func (g *Graph) endsOf(arcs []arcID) []arcEnds {
	ends := make([]arcEnds, len(arcs))
	for i, id := range arcs {
		a := g.arcs.at(id)
		ends[i] = arcEnds{a.from, a.to}
	}
	return ends
}

// align makes a slice of what is left to be made, at least of one arc.
func (g *Graph) align() {
	for first := true; len(g.alignments) > 0 && (first || g.Visits() < sliceVisits*g.sliceChanges); first = false {
		if g.alignments[0].step(g) {
			g.alignments = append(g.alignments[:0], g.alignments[1:]...)
		}
	}
}

// step looks at one pair, and tells whether it was the last.
func (c *alignment) step(g *Graph) (done bool) {
	switch {
	case c.counts:
		c.count(g)
	case len(c.pairs) > 0:
		g.alignArc(c.pairs[0].from, c.pairs[0].to)
		c.pairs = c.pairs[1:]
	case c.holder < len(c.holders) && c.slot < len(c.slots):
		g.alignArc(c.holders[c.holder], c.slots[c.slot])
		c.slot++
		if c.slot == len(c.slots) {
			c.holder, c.slot = c.holder+1, 0
		}
	}
	return !c.counts && len(c.pairs) == 0 && (c.holder == len(c.holders) || len(c.slots) == 0)
}

// count counts what a holder matches of one slot. With too much it has no arcs.
func (c *alignment) count(g *Graph) {
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
	if c.counted > g.mostOfObject {
		g.drop(id, h, arcsOfObject)
		g.setMatches(h, c.counted)
		c.pairs, c.holders = nil, nil // drop takes care of what there was
	}
}

// alignArc brings the arcs between a holder and a slot up to date with its selectors.
func (g *Graph) alignArc(from nodeID, to slotID) {
	g.visits++
	for typ := range Transitive + 1 {
		if id := g.findArc(from, to, typ); id != 0 && g.arcs.at(id).flags&bySelector != 0 {
			g.reselect(id)
		}
	}
	if h := g.nodes.at(from).holder; h != nil && h.dropped == nil {
		g.selectSlot(from, h, to)
	}
}
