package graph

// changeSet has the changes of the graph in the open revision, or in several revisions up to it, and the state
// before them. The commit of a lens compares this with the graph.
type changeSet struct {
	rev         uint64 // the first of the revisions
	changes     []arcChange
	formerNodes map[nodeID]formerNode // of nodes whose UID or content changed
	existed     map[existence]existed // of selective kinds
	// arcs are the arcs in changes of several revisions. The arcs of the open one have the flag recorded.
	arcs map[arcID]struct{}
}

// has reports whether an arc is in the set.
func (s *changeSet) has(id arcID, a *arc) bool {
	if s.arcs == nil {
		return a.flags&recorded != 0
	}
	_, ok := s.arcs[id]
	return ok
}

// add adds the changes of a later revision.
func (s *changeSet) add(later *changeSet) {
	for i := range later.changes {
		c := &later.changes[i]
		if _, ok := s.arcs[c.id]; !ok {
			s.arcs[c.id] = struct{}{}
			s.changes = append(s.changes, *c)
		}
	}
	for id, was := range later.formerNodes {
		if _, ok := s.formerNodes[id]; !ok {
			s.formerNodes[id] = was
		}
	}
	for at, was := range later.existed {
		if _, ok := s.existed[at]; !ok {
			s.existed[at] = was
		}
	}
}

func newChangeSet(rev uint64) changeSet {
	return changeSet{rev: rev, formerNodes: make(map[nodeID]formerNode), existed: make(map[existence]existed)}
}

// changesSince returns all changes that a lens lacks since a revision. The lens, which is being committed,
// pays for the visits.
func (g *Graph) changesSince(rev uint64) *changeSet {
	if rev == g.rev {
		return &g.open
	}
	if g.merged != nil && g.merged.rev == rev {
		return g.merged
	}
	merged := newChangeSet(rev)
	merged.arcs = make(map[arcID]struct{})
	for i := range g.kept {
		if later := &g.kept[i]; later.rev >= rev {
			g.committing.visit(len(later.changes) + len(later.formerNodes) + len(later.existed))
			merged.add(later)
		}
	}
	merged.add(&g.open)
	g.merged = &merged
	return g.merged
}

// settle releases the changes that no lens lacks, and keeps the others.
func (g *Graph) settle() {
	oldest := ^uint64(0)
	for _, l := range g.left {
		oldest = min(oldest, l.late.Load().since)
	}
	done := 0
	for done < len(g.kept) && g.kept[done].rev < oldest {
		done++
	}
	if done > 0 {
		g.unlock() // these are the changes of many revisions
	}
	for i := range g.kept[:done] {
		g.settleChanges(&g.kept[i])
	}
	clear(g.kept[:done])
	g.kept = g.kept[done:]
	g.visits = g.Visits()
	g.inPieces(len(g.unsettled.nodes), func(i int) { g.unpinNode(g.unsettled.nodes[i]) })
	g.inPieces(len(g.unsettled.slots), func(i int) { g.unpinSlot(g.unsettled.slots[i]) })
	g.unsettled = unsettled{}
	g.inPieces(len(g.open.changes), g.sealChange)
	if len(g.left) == 0 {
		g.settleChanges(&g.open)
		g.open.reset()
		return
	}
	g.kept = append(g.kept, g.open)
	g.open = newChangeSet(0)
}

// reset empties the set. Its memory is used again.
func (s *changeSet) reset() {
	clear(s.changes)
	s.changes = s.changes[:0]
	clear(s.formerNodes)
	clear(s.existed)
}

// sealChange ends the part that a changed arc has in the open revision.
func (g *Graph) sealChange(i int) {
	c := &g.open.changes[i]
	a := g.arcs.at(c.id)
	a.flags &^= recorded
	c.gone = a.flags&removed != 0
}

// settleChanges releases the arcs and nodes of a set.
func (g *Graph) settleChanges(s *changeSet) {
	g.inPieces(len(s.changes), func(i int) {
		c := &s.changes[i]
		if c.gone {
			g.arcs.release(c.id)
		}
		g.unpinSlot(c.to)
		g.unpinNode(c.from)
	})
	if len(s.existed) > 0 {
		g.inPieces(1, func(int) {
			for at := range s.existed {
				g.unpinSlot(at.slot)
			}
		})
	}
}

// unsettled are the changes of the graph itself that commits with the graph unlocked leave for later.
type unsettled struct {
	stamps []arcID // of arcs that look different in the open revision
	nodes  []nodeID
	slots  []slotID
}

// inPieces calls do for each of n items. If the graph is unlocked, it locks the graph for one piece after
// the other.
func (g *Graph) inPieces(n int, do func(i int)) {
	if g.held {
		for i := range n {
			do(i)
		}
		return
	}
	for i := 0; i < n; {
		g.lock()
		for range min(8*g.sliceChanges, n-i) {
			do(i)
			i++
		}
		g.unlock()
	}
}

// unpinNode releases a node that an entry or a change needed; unpinSlot releases a name that a tombstone or a
// change needed. While the graph is unlocked, they leave that for later.
func (g *Graph) unpinNode(id nodeID) {
	if !g.held {
		g.unsettled.nodes = append(g.unsettled.nodes, id)
		return
	}
	g.nodes.at(id).pins--
	g.dropNode(id)
}

func (g *Graph) unpinSlot(id slotID) {
	if !g.held {
		g.unsettled.slots = append(g.unsettled.slots, id)
		return
	}
	g.slots.at(id).pins--
	g.dropSlot(id)
}

// restamp records that an arc changed in the open revision.
func (g *Graph) restamp(id arcID) {
	a := g.arcs.at(id)
	switch {
	case a.stamp() == g.rev:
	case !g.held:
		g.unsettled.stamps = append(g.unsettled.stamps, id)
	default:
		a.setStamp(g.rev)
	}
}
