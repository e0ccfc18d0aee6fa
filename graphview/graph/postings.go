package graph

// postings finds the live nodes of one scope that have a label. Labels are known by their hash
// alone, so it may find further nodes: the caller compares the labels.
//
// In a large namespace, one object or very many have the same label. One node is in the map; more
// are in a set.
type postings struct {
	// nodes has a node, or with inSet the number of a set, by the label's hash.
	nodes map[uint32]uint32
	sets  []nodeSet
	free  []uint32
}

const inSet = 1 << 31

// postingsLeast is the number of objects from which a scope has postings.
const postingsLeast = 64

func (p *postings) add(id nodeID, set *labelSet) {
	if set == nil {
		return
	}
	for k, v := range set.labels {
		hash := uint32(hashLabel(k, v)) //nolint:gosec // cut off
		has, ok := p.nodes[hash]
		switch {
		case !ok:
			p.nodes[hash] = uint32(id)
		case has&inSet != 0:
			p.sets[has&^inSet].add(id)
		case has != uint32(id):
			at := p.newSet()
			p.nodes[hash] = at | inSet
			p.sets[at].add(nodeID(has))
			p.sets[at].add(id)
		}
	}
}

func (p *postings) newSet() uint32 {
	if n := len(p.free); n > 0 {
		at := p.free[n-1]
		p.free = p.free[:n-1]
		return at
	}
	p.sets = append(p.sets, nodeSet{})
	return uint32(len(p.sets) - 1) //nolint:gosec // ids have 31 bits
}

// remove takes a node out for all labels that it was added for: two of them may have
// one hash.
func (p *postings) remove(id nodeID, set *labelSet) {
	if set == nil {
		return
	}
	for k, v := range set.labels {
		hash := uint32(hashLabel(k, v)) //nolint:gosec // cut off
		has, ok := p.nodes[hash]
		switch {
		case !ok:
		case has == uint32(id):
			delete(p.nodes, hash)
		case has&inSet != 0:
			at := has &^ inSet
			s := &p.sets[at]
			if s.remove(id); s.size == 1 {
				p.nodes[hash] = uint32(s.chunks[0][0])
				*s = nodeSet{}
				p.free = append(p.free, at)
			}
		}
	}
}

// count is how many nodes are found for a label.
func (p *postings) count(l pair) int {
	has, ok := p.nodes[uint32(hashLabel(l.key, l.value))] //nolint:gosec // cut off
	switch {
	case !ok:
		return 0
	case has&inSet == 0:
		return 1
	}
	return p.sets[has&^inSet].size
}

func (p *postings) visit(l pair, visit func(nodeID)) {
	has, ok := p.nodes[uint32(hashLabel(l.key, l.value))] //nolint:gosec // cut off
	switch {
	case !ok:
	case has&inSet == 0:
		visit(nodeID(has))
	default:
		p.sets[has&^inSet].visit(visit)
	}
}

// postingsOf are those of a scope, made for the first who asks and kept up to date from then on.
func (g *Graph) postingsOf(sc *scope) *postings {
	if sc.postings == nil {
		sc.postings = &postings{nodes: make(map[uint32]uint32)}
		for _, at := range sc.slots {
			for n := g.slots.at(at).node; n != 0; n = g.nodes.at(n).sibling {
				if p := g.nodes.at(n); p.alive() {
					sc.postings.add(n, p.labels)
				}
			}
		}
	}
	return sc.postings
}

// repost replaces the labels of a node; nil for none.
func (g *Graph) repost(id nodeID, before, now *labelSet) {
	s := g.slots.at(g.nodes.at(id).slot)
	if sc := g.scopeAt(s.kind, s.space); sc != nil && sc.postings != nil {
		sc.postings.remove(id, before)
		sc.postings.add(id, now)
	}
}
