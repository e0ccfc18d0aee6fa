package graph

import (
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
)

// labelSet is a set of labels. Objects with the same labels share one, as the pods of a ReplicaSet do.
type labelSet struct {
	labels map[string]string
	hash   uint64
	uses   int32
	payer  spaceID   // see payLabels
	next   *labelSet // of the same hash
}

// labelSets interns label sets by their hash while objects have them.
type labelSets map[uint64]*labelSet

var labelSeed = maphash.MakeSeed()

// hashLabels adds the hashes of the labels, so that their order does not matter and they need no
// sorting.
func hashLabels(labels map[string]string) uint64 {
	var sum uint64
	for k, v := range labels {
		sum += hashLabel(k, v)
	}
	return sum
}

func hashLabel(key, value string) uint64 {
	high, low := bits.Mul64(maphash.String(labelSeed, key)|1, maphash.String(labelSeed, value)^0x9e3779b97f4a7c15)
	return high ^ low
}

// labelHash is the hash of a label, cut off. Objects and selectors are found by hashes, which take less memory
// than labels. A hash may also find those of other labels, so the caller compares the labels.
type labelHash uint32

func hashOf(key, value string) labelHash { return labelHash(hashLabel(key, value)) } //nolint:gosec // cut off

// acquire returns the set with these labels, nil for none. It copies labels.
func (s labelSets) acquire(labels map[string]string) *labelSet {
	if len(labels) == 0 {
		return nil
	}
	hash := hashLabels(labels)
	first := s[hash]
	for set := first; set != nil; set = set.next {
		if maps.Equal(set.labels, labels) {
			set.uses++
			return set
		}
	}
	set := &labelSet{labels: maps.Clone(labels), hash: hash, uses: 1, next: first}
	s[hash] = set
	return set
}

func (s labelSets) release(set *labelSet) {
	if set == nil {
		return
	}
	if set.uses--; set.uses > 0 {
		return
	}
	switch first := s[set.hash]; {
	case first != set:
		for first.next != set {
			first = first.next
		}
		first.next = set.next
	case set.next != nil:
		s[set.hash] = set.next
	default:
		delete(s, set.hash)
	}
}

// postings finds the live nodes of one scope that have a label.
//
// In a large namespace, a label belongs either to one object or to very many. A single node is in the
// map itself, several are in a set.
type postings struct {
	// nodes has a node, or with inSet the index of a set.
	nodes map[labelHash]uint32
	sets  []nodeSet
	free  []uint32
}

const inSet = 1 << 31

// postingsLeast is the smallest number of objects for which a scope has postings.
const postingsLeast = 64

func (p *postings) add(id nodeID, set *labelSet) {
	if set == nil {
		return
	}
	for k, v := range set.labels {
		hash := hashOf(k, v)
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

// remove removes a node from all labels that it was added for. Two of the labels may have the same
// hash.
func (p *postings) remove(id nodeID, set *labelSet) {
	if set == nil {
		return
	}
	for k, v := range set.labels {
		hash := hashOf(k, v)
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

// count returns the number of nodes that are found for a label.
func (p *postings) count(label labelHash) int {
	has, ok := p.nodes[label]
	switch {
	case !ok:
		return 0
	case has&inSet == 0:
		return 1
	}
	return p.sets[has&^inSet].size
}

func (p *postings) visit(label labelHash, visit func(nodeID)) {
	has, ok := p.nodes[label]
	switch {
	case !ok:
	case has&inSet == 0:
		visit(nodeID(has))
	default:
		p.sets[has&^inSet].visit(visit)
	}
}

// postingsOf returns the postings of a scope. It makes them once; then changes keep them up to date.
func (g *Graph) postingsOf(sc *scope) *postings {
	if sc.postings == nil {
		sc.postings = &postings{nodes: make(map[labelHash]uint32)}
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

// repost replaces the labels of a node in the postings of its scope; nil means none.
func (g *Graph) repost(id nodeID, before, now *labelSet) {
	s := g.slots.at(g.nodes.at(id).slot)
	if sc := g.scopeAt(s.kind, s.space); sc != nil && sc.postings != nil {
		sc.postings.remove(id, before)
		sc.postings.add(id, now)
	}
}

// sparse is the number of objects per selector below which a scope is searched without its postings:
// visiting the objects is then less work.
const sparse = 8

// candidates lists the slots that the selectors of a holder may match, each once.
func (g *Graph) candidates(h *holder) []slotID {
	type place struct {
		kind  kindID
		space spaceID
	}
	var found []slotID
	seen := make(map[place]struct{})
	look := func(kind kindID, space spaceID, sc *scope) {
		if _, again := seen[place{kind, space}]; sc == nil || again {
			return
		}
		seen[place{kind, space}] = struct{}{}
		found = g.candidatesIn(h, kind, space, sc, found)
	}
	everywhere := make(map[kindID]struct{})
	for _, s := range h.selectors {
		if s.space == 0 {
			everywhere[s.kind] = struct{}{}
		} else {
			look(s.kind, s.space, g.scopeAt(s.kind, s.space))
		}
	}
	for kind := range everywhere {
		for space, sc := range g.selection[kind] {
			if space != 0 && g.looksIn(h, kind, space) {
				look(kind, space, sc)
			}
		}
	}
	return found
}

// candidatesIn appends the candidates of one scope: the objects with the rarest label that each
// selector requires, or all objects if these are not more.
func (g *Graph) candidatesIn(h *holder, kind kindID, space spaceID, sc *scope, found []slotID) []slotID {
	if len(sc.slots) < g.postingsLeast {
		return append(found, sc.slots...)
	}
	var asking []*Requirement
	for _, s := range h.selectors {
		if s.kind != kind || s.space != 0 && s.space != space {
			continue
		}
		i := slices.IndexFunc(s.selector.Requirements, func(r Requirement) bool { return r.Op == In })
		if i < 0 || sparse*(len(asking)+1) > len(sc.slots) && len(sc.slots) >= postingsLeast {
			return append(found, sc.slots...)
		}
		asking = append(asking, g.rarest(sc, s.selector.Requirements[i:]))
	}
	total, p := 0, g.postingsOf(sc)
	for _, r := range asking {
		if total += p.countAll(r); total >= len(sc.slots) {
			return append(found, sc.slots...)
		}
	}
	from := len(found)
	for _, r := range asking {
		for _, v := range r.Values {
			p.visit(hashOf(r.Key, v), func(n nodeID) { found = append(found, g.nodes.at(n).slot) })
		}
	}
	slices.Sort(found[from:])
	return append(found[:from], slices.Compact(found[from:])...)
}

// rarest returns the requirement whose values the fewest objects of a scope have.
func (g *Graph) rarest(sc *scope, requirements []Requirement) *Requirement {
	var best *Requirement
	p, least := g.postingsOf(sc), 0
	for i := range requirements {
		r := &requirements[i]
		if r.Op != In {
			continue
		}
		if n := p.countAll(r); best == nil || n < least {
			best, least = r, n
		}
	}
	return best
}

// countAll returns the number of nodes that are found for the values of a requirement.
func (p *postings) countAll(r *Requirement) int {
	n := 0
	for _, v := range r.Values {
		n += p.count(hashOf(r.Key, v))
	}
	return n
}
