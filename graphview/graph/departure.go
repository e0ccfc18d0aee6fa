package graph

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
	g.openUpdates = append(g.openUpdates, &selectorUpdate{existing: there, onDone: func() { g.finishRemoval(id) }})
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
