package graph

// An object whose selectors match thousands is removed after their arcs, which go in slices, as if
// its selectors had been removed before.

// departure is an object that is removed after its arcs. It keeps its holder's log, so that a
// reader between two slices need not visit all arcs that are left.
type departure struct {
	source  SourceID // that no longer sees it
	matches int      // at first
	changes hubLog
}

// departsLater reports whether a node that a source no longer claims has to wait until its arcs
// are removed.
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

// departNow removes a node that waits for its arcs, and reports whether it did.
func (g *Graph) departNow(id nodeID) bool {
	d, ok := g.departing[id]
	if ok {
		delete(g.departing, id)
		g.unclaim(id, d.source)
	}
	return ok
}
