package graph

// An object whose selectors match thousands goes when their arcs have gone, which is in
// slices, as if its selectors had been taken away before.

// departure is of an object that goes when its arcs have. It has its holder's log, so that
// who reads it between the slices need not look at all arcs that are left.
type departure struct {
	source  SourceID // that no longer sees it
	matches int      // at first
	changes hubLog
}

// departsLater tells whether a node, of which a source no longer sees the object, has to
// wait until its arcs have gone.
func (g *Graph) departsLater(id nodeID, source SourceID) bool {
	if _, ok := g.departing[id]; ok {
		return true
	}
	h := g.nodes.at(id).holder
	if h == nil || h.dropped != nil || len(g.claims[id]) > 0 || g.nodes.at(id).claim != source || g.atOnce(h.matches) {
		return false
	}
	there := g.selectedArcs(id)
	d := &departure{source: source, matches: h.matches, changes: h.changes}
	g.setHolder(id, nil)
	g.departing[id] = d
	g.selectorUpdates = append(g.selectorUpdates, &selectorUpdate{there: there, then: func() { g.departNow(id) }})
	return true
}

// departNow takes away a node that waits for its arcs to go, and tells whether it did.
func (g *Graph) departNow(id nodeID) bool {
	d, ok := g.departing[id]
	if ok {
		delete(g.departing, id)
		g.unclaim(id, d.source)
	}
	return ok
}
