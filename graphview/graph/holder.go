package graph

import (
	"container/heap"
	"maps"
	"slices"

	"graphview.dev/graphview/budget"
)

// A selector of a few bytes may match every object of the cluster, so a namespace is charged for
// the arcs that the selectors of its objects make. If it may hold no more, the objects that match
// most lose their selectors, until the others fit. RetryReferences tries them again.

// requirementsOfObject bounds the requirements of the selectors of one object: each object that they may select is
// compared with all of them.
var requirementsOfObject = budget.Declare("selector_requirements_object", "requirements of the selectors of one object", 200)

const (
	// valuesOfRequirement is the number of values that cost as much as a requirement.
	valuesOfRequirement = 8
	// requirementsOfVisit is the number of requirements whose comparison counts as a visit.
	requirementsOfVisit = 16
)

// holder has the selectors of a node.
type holder struct {
	selectors    []*selector
	space        spaceID // the node's
	requirements int
	// matches is the number of arcs that the selectors make.
	matches int
	// selecting is Graph.selecting of the slot whose arcs were made last.
	selecting uint64
}

// namespaceUse is the number of arcs that the holders of one namespace make.
type namespaceUse struct {
	holders map[nodeID]*holder
	matches int
}

// weight returns the cost of comparing a selector, in requirements.
func (s *selector) weight() int {
	weight := 0
	for _, each := range [...]*Selector{&s.selector, s.namespaceSelector} {
		if each == nil {
			continue
		}
		weight += len(each.Requirements)
		for i := range each.Requirements {
			weight += len(each.Requirements[i].Values) / valuesOfRequirement
		}
	}
	return max(1, weight)
}

// newHolder returns a holder of the selectors of a node, which match nothing so far; nil if there are none.
func (g *Graph) newHolder(id nodeID, selectors []*selector) *holder {
	if len(selectors) == 0 {
		return nil
	}
	h := &holder{selectors: selectors, space: g.slots.at(g.nodes.at(id).slot).space}
	for _, s := range selectors {
		s.holder = h
		h.requirements += s.weight()
	}
	return h
}

// setHolder replaces the selectors of a node. A node without selectors has no holder.
func (g *Graph) setHolder(id nodeID, next *holder) {
	n := g.nodes.at(id)
	if h := n.holder; h != nil {
		g.unindex(h)
		g.setMatches(h, 0)
		use := g.namespaceUses[h.space]
		if delete(use.holders, id); len(use.holders) == 0 {
			delete(g.namespaceUses, h.space)
			g.payer.Pay(g.spaces.at(h.space), budget.Matches, 0)
		}
	}
	delete(g.byNamespace, id)
	if n.holder = next; next == nil {
		g.setTexts(id, 0)
		return
	}
	use := g.namespaceUses[next.space]
	if use == nil {
		use = &namespaceUse{holders: make(map[nodeID]*holder)}
		g.namespaceUses[next.space] = use
	}
	use.holders[id] = next
	for _, s := range next.selectors {
		if g.index(s); s.namespaceSelector != nil {
			g.byNamespace[id] = struct{}{}
		}
	}
}

// setMatches stores the number of matches of a holder.
func (g *Graph) setMatches(h *holder, matches int) {
	if matches != h.matches {
		g.namespaceUses[h.space].matches += matches - h.matches
		h.matches = matches
		g.review[h.space] = struct{}{}
	}
}

// countMatch counts an arc that a selector began (1) or ceased (-1) to make.
func (g *Graph) countMatch(from nodeID, by int) {
	if h := g.nodes.at(from).holder; h != nil {
		g.setMatches(h, h.matches+by)
	}
}

// fits reports whether the namespace of a node may hold so many arcs of the node's selectors. A smaller number than before
// always fits.
func (g *Graph) fits(id nodeID, matches int) bool {
	n := g.nodes.at(id)
	space, more := g.slots.at(n.slot).space, matches
	if n.holder != nil {
		more -= n.holder.matches
	}
	return more <= 0 || (g.matchesIn(space)+more)*g.arcBytes <= g.payer.Most(g.spaces.at(space), budget.Matches)
}

// matchesIn returns the number of arcs that the selectors of a namespace's objects make.
func (g *Graph) matchesIn(space spaceID) int {
	if use := g.namespaceUses[space]; use != nil {
		return use.matches
	}
	return 0
}

// drop removes the selectors of a node, which may not make so many arcs.
func (g *Graph) drop(id nodeID, matches int) {
	g.leaveOut(id, leftOut{matches: matches * g.arcBytes})
	g.replaceSelectors(id, nil, AtOnce)
}

// enforce drops selectors of the namespaces that hold more arcs than they may. Their arcs are removed before the rest of a
// change in slices adds others.
func (g *Graph) enforce() {
	before := len(g.openUpdates)
	for space := range g.review {
		delete(g.review, space)
		var order *heaviest
		for use := g.namespaceUses[space]; use != nil && !g.payer.Pay(g.spaces.at(space), budget.Matches, use.matches*g.arcBytes); use = g.namespaceUses[space] {
			if order == nil {
				order = g.heaviest(use)
			}
			id := heap.Pop(order).(nodeID) //nolint:forcetypeassert // it has no others
			g.drop(id, g.nodes.at(id).holder.matches)
		}
	}
	if before > 0 && len(g.openUpdates) > before {
		g.openUpdates = slices.Concat(g.openUpdates[before:], g.openUpdates[:before])
	}
	// An object that is removed in slices exceeds nothing that could be reported.
	if g.exceedances = nil; !g.HasOpenUpdate() {
		g.recordExceedances()
	}
}

// heaviest is a heap of the nodes with selectors in a namespace. Its first node makes the most arcs. A heap, because half
// of thousands may be dropped at once.
type heaviest struct {
	g     *Graph
	nodes []nodeID
}

func (g *Graph) heaviest(use *namespaceUse) *heaviest {
	g.visits += len(use.holders) / listedOfVisit
	order := &heaviest{g: g, nodes: slices.Collect(maps.Keys(use.holders))}
	heap.Init(order)
	return order
}

// Len implements heap.Interface, as the next four methods do.
func (o *heaviest) Len() int { return len(o.nodes) }

// Less reports whether a node is dropped before another one.
func (o *heaviest) Less(i, j int) bool {
	a, b := o.nodes[i], o.nodes[j]
	if more := o.g.nodes.at(a).holder.matches - o.g.nodes.at(b).holder.matches; more != 0 {
		return more > 0
	}
	return compareKeys(new(o.g.key(a)), new(o.g.key(b))) > 0
}

// Swap swaps two nodes.
func (o *heaviest) Swap(i, j int) { o.nodes[i], o.nodes[j] = o.nodes[j], o.nodes[i] }

// Push adds a node.
func (o *heaviest) Push(node any) { o.nodes = append(o.nodes, node.(nodeID)) } //nolint:forcetypeassert // see Pop

// Pop removes the last node.
func (o *heaviest) Pop() any {
	last := len(o.nodes) - 1
	node := o.nodes[last]
	o.nodes = o.nodes[:last]
	return node
}

// selectedArcs lists the arcs that a node's selectors make.
func (g *Graph) selectedArcs(id nodeID) []arcID {
	var found []arcID
	for a := g.nodes.at(id).out; a != 0; a = g.arcs.at(a).nextOut {
		if g.arcs.at(a).flags&bySelector != 0 {
			found = append(found, a)
		}
	}
	return found
}
