package graph

// hubSize is the number of arcs above which a holder logs its changed arcs, so that a reader need
// not visit them all.
const hubSize = 256

// hubLog lists the arcs of a hub that looked different to a lens since horizon, in order of
// revisions.
type hubLog struct {
	horizon uint64
	arcs    []hubChange
}

type hubChange struct {
	rev uint64
	arc arcID
}

// changeBytes is the memory of a hubChange in a log, in bytes.
const changeBytes = 20

// mostChanges returns the largest number of changes in the log of a hub with so many arcs.
func (g *Graph) mostChanges(matches int) int { return g.hubSize + matches/8 }

// hubLogOf returns the log and the number of matches of a node that is a holder, or was one and
// departs; nil for other nodes, and for holders without arcs.
func (g *Graph) hubLogOf(id nodeID) (log *hubLog, matches int) {
	if h := g.nodes.at(id).holder; h != nil && h.dropped == nil {
		return &h.changes, h.matches
	}
	if len(g.departing) > 0 {
		if d := g.departing[id]; d != nil {
			return &d.changes, d.matches
		}
	}
	return nil, 0
}

// noteHub logs an arc that looks different to a lens, once in each revision. A commit with the graph
// unlocked logs nothing; see Lens.unnoted.
func (g *Graph) noteHub(id arcID) {
	a := g.arcs.at(id)
	if a.flags&noted != 0 {
		return
	}
	if !g.held {
		g.committing.unnoted = g.rev
		return
	}
	log, matches := g.hubLogOf(a.from)
	if log == nil {
		return
	}
	if matches <= g.hubSize {
		*log = hubLog{horizon: g.rev}
		return
	}
	a.flags |= noted
	g.noted = append(g.noted, id)
	most := g.mostChanges(matches)
	switch n := len(log.arcs); {
	case n >= most:
		newest := log.arcs[n-most/2:]
		log.horizon = log.arcs[n-most/2-1].rev
		if log.arcs = log.arcs[:0]; cap(log.arcs) > most {
			log.arcs = make([]hubChange, 0, most) // the hub has fewer arcs than before
		}
		log.arcs = append(log.arcs, newest...)
	case n == cap(log.arcs):
		// append alone would reserve more than is charged.
		log.arcs = append(make([]hubChange, 0, min(2*n+16, most)), log.arcs...)
	}
	log.arcs = append(log.arcs, hubChange{g.rev, id})
}

// since visits the arcs that changed after a revision, and reports whether the log has all of them. It
// may also visit arcs that the hub no longer has.
func (log *hubLog) since(rev uint64, visit func(arcID)) bool {
	if rev < log.horizon {
		return false
	}
	var seen map[arcID]struct{}
	for i := len(log.arcs) - 1; i >= 0 && log.arcs[i].rev > rev; i-- {
		id := log.arcs[i].arc
		if _, again := seen[id]; again {
			continue
		}
		visit(id)
		if seen == nil {
			seen = make(map[arcID]struct{})
		}
		seen[id] = struct{}{}
	}
	return true
}

// If the selectors of a removed object match thousands, its arcs are removed first, in slices, as if
// only the selectors had been removed. The object is removed after them.

// departure is an object that is removed after its arcs. It keeps the holder's log, so that a reader
// between two slices need not visit all remaining arcs.
type departure struct {
	source  SourceID // that no longer sees it
	matches int      // before the first slice
	changes hubLog
}

// deferRemoval reports whether the removal of a node waits until its arcs are removed. If so, it
// begins to remove them. source is the source that no longer sees the object.
func (g *Graph) deferRemoval(id nodeID, source SourceID) bool {
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
	g.openUpdates = append(g.openUpdates, &selectorUpdate{existing: there, onDone: func() { g.finishRemoval(id) }})
	return true
}

// finishRemoval removes a node whose removal waits for its arcs, and reports whether there was one.
func (g *Graph) finishRemoval(id nodeID) bool {
	d, ok := g.departing[id]
	if ok {
		delete(g.departing, id)
		g.unclaim(id, d.source)
	}
	return ok
}
