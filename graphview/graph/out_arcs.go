package graph

// arcTo identifies an arc of a node.
type arcTo struct {
	slot slotID
	typ  ArcType
}

// outOf has the arcs of one node by their ends, while its selectors make many of them.
type outOf struct {
	from nodeID
	arcs map[arcTo]arcID
}

// listOut lists the arcs of a node before its selectors make arcs to a number of slots, if that takes less time than
// findArc, which walks the arcs of other nodes that end at each slot.
func (g *Graph) listOut(from nodeID, slots int) {
	const steps = 32 // of findArc, for each slot
	n := g.nodes.at(from)
	out := int(n.names) + n.holder.matches
	if g.outOf.from == from || slots < 2 || out > steps*slots {
		return
	}
	g.outOf = outOf{from: from, arcs: make(map[arcTo]arcID, max(out, slots))}
	for id := n.out; id != 0; id = g.arcs.at(id).nextOut {
		g.visits++
		a := g.arcs.at(id)
		g.outOf.arcs[arcTo{a.to, a.typ}] = id
	}
}
