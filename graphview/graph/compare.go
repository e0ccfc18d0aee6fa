package graph

import (
	"slices"

	"graphview.dev/graphview/budget"
)

// requirementsOfObject bounds the requirements of one object that have to be compared with one
// other object. An object may have ten thousand selectors, each with ten thousand requirements, and
// its namespace may be large. But most selectors need no comparison, since the other object lacks a
// label that they require.
var requirementsOfObject = budget.Declare("selector_requirements_object",
	"requirements of one object's selectors that have to be compared with the labels of one other object", 100)

const (
	// fewSelectors is the number of selectors up to which an object needs no comparer.
	fewSelectors = 8
	// valuesOfRequirement is the number of values that cost as much as a requirement.
	valuesOfRequirement = 8
)

// kindLabel is a label of objects of one kind, or of the namespaces that they are in.
type kindLabel struct {
	kind  kindID
	label labelHash
}

// candidate is an element of the list of selectors that a comparer has for a label.
type candidate struct {
	selector *selector
	next     *candidate
}

// comparer finds the selectors of one object that may match another.
type comparer struct {
	// labels has a selector under each label that one of its requirements lists, since an object
	// that matches has one of these labels. A selector without such a requirement is in byNamespace,
	// under labels of the namespace. A selector with neither is in rest.
	labels, byNamespace map[kindLabel]*candidate
	rest                map[kindID][]*selector
	// everywhere has the kinds with a selector outside byNamespace.
	everywhere map[kindID]bool
	candidates int // in all lists, and selectors in rest
}

// weight returns the cost of comparing a selector, in requirements.
func (s *selector) weight() int {
	weigh := func(sel *Selector) int {
		w := len(sel.Requirements)
		for i := range sel.Requirements {
			w += len(sel.Requirements[i].Values) / valuesOfRequirement
		}
		return w
	}
	w := weigh(&s.selector)
	if s.namespaceSelector != nil {
		w += weigh(s.namespaceSelector)
	}
	return max(1, w)
}

// newComparer returns a comparer of selectors, and the largest number of requirements that it has
// to compare with one object.
func newComparer(selectors []*selector) (*comparer, int) {
	c := &comparer{labels: make(map[kindLabel]*candidate), byNamespace: make(map[kindLabel]*candidate), rest: make(map[kindID][]*selector), everywhere: make(map[kindID]bool)}
	type kindKey struct {
		kind kindID
		site bool
		key  string
	}
	weights := [2]map[kindLabel]int{make(map[kindLabel]int), make(map[kindLabel]int)}
	// An object has one value of each key, so the heaviest value counts.
	heaviest, total := make(map[kindKey]int), make(map[kindID]int)
	for _, s := range selectors {
		by, index, weighed := s.selector.Requirements, c.labels, weights[0]
		best := anchorOf(s.kind, by, weighed)
		site := best < 0 && s.namespaceSelector != nil
		if site {
			by, index, weighed = s.namespaceSelector.Requirements, c.byNamespace, weights[1]
			best = anchorOf(s.kind, by, weighed)
		}
		w := s.weight()
		c.everywhere[s.kind] = c.everywhere[s.kind] || !site || best < 0
		if best < 0 {
			c.rest[s.kind] = append(c.rest[s.kind], s)
			c.candidates++
			total[s.kind] += w
			continue
		}
		r := &by[best]
		key := kindKey{s.kind, site, r.Key}
		before := heaviest[key]
		for _, v := range r.Values {
			at := kindLabel{s.kind, hashOf(r.Key, v)}
			if first := index[at]; first != nil && first.selector == s {
				continue // a value that is listed twice
			}
			index[at] = &candidate{s, index[at]}
			c.candidates++
			weighed[at] += w
			heaviest[key] = max(heaviest[key], weighed[at])
		}
		total[s.kind] += heaviest[key] - before
	}
	most := 0
	for _, w := range total {
		most = max(most, w)
	}
	return c, most
}

// anchorOf returns the index of the requirement whose heaviest value is the lightest, -1 if no
// requirement lists values.
func anchorOf(kind kindID, requirements []Requirement, weighed map[kindLabel]int) int {
	best, least := -1, 0
	for i := range requirements {
		r := &requirements[i]
		if r.Op != In {
			continue
		}
		heaviest := 0
		for _, v := range r.Values {
			heaviest = max(heaviest, weighed[kindLabel{kind, hashOf(r.Key, v)}])
		}
		if best < 0 || heaviest < least {
			best, least = i, heaviest
		}
	}
	return best
}

// compare computes how many requirements of a holder have to be compared with one object, and makes
// its comparer.
func (g *Graph) compare(h *holder) {
	h.comparer, h.requirements = nil, 0
	for _, s := range h.selectors {
		h.requirements += s.weight()
	}
	if len(h.selectors) > g.fewSelectors || h.requirements > g.mostRequirements {
		h.comparer, h.requirements = newComparer(h.selectors)
	}
}

// tooMany reports whether a holder has more requirements to compare than it may have.
func (g *Graph) tooMany(h *holder) bool { return h.requirements > g.mostRequirements }

// matching lists the selectors of a holder that match a slot, some perhaps more than once. The list
// is valid until the next call.
func (g *Graph) matching(h *holder, id slotID) []*selector {
	g.matched = g.matched[:0]
	at := g.slots.at(id)
	for n := at.node; n != 0; n = g.nodes.at(n).sibling {
		if !g.nodes.at(n).alive() {
			continue
		}
		labels := g.labelsOf(n)
		if h.comparer == nil {
			g.match(h.selectors, at, labels)
			continue
		}
		if len(h.comparer.labels) > 0 {
			for k, v := range labels {
				g.matchAll(h.comparer.labels[kindLabel{at.kind, hashOf(k, v)}], at, labels)
			}
		}
		if len(h.comparer.byNamespace) > 0 {
			if site := g.namespaceSlot(at.space); site != 0 {
				for n := g.slots.at(site).node; n != 0; n = g.nodes.at(n).sibling {
					for k, v := range g.labelsOf(n) {
						g.matchAll(h.comparer.byNamespace[kindLabel{at.kind, hashOf(k, v)}], at, labels)
					}
				}
			}
		}
		g.match(h.comparer.rest[at.kind], at, labels)
	}
	return g.matched
}

// match appends the selectors that match an object to Graph.matched.
func (g *Graph) match(list []*selector, at *slot, labels map[string]string) {
	for _, s := range list {
		g.matchOne(s, at, labels)
	}
}

// matchAll is match for a list of candidates.
func (g *Graph) matchAll(first *candidate, at *slot, labels map[string]string) {
	for c := first; c != nil; c = c.next {
		g.matchOne(c.selector, at, labels)
	}
}

func (g *Graph) matchOne(s *selector, at *slot, labels map[string]string) {
	if s.kind == at.kind && (s.space == 0 || s.space == at.space) && s.selector.Matches(labels) && g.selectsNamespace(s, at.space) {
		g.matched = append(g.matched, s)
	}
}

// looksIn reports whether a holder's selectors may match objects of a kind in a namespace.
func (g *Graph) looksIn(h *holder, kind kindID, space spaceID) bool {
	c := h.comparer
	switch {
	case c == nil:
		return slices.ContainsFunc(h.selectors, func(s *selector) bool {
			return s.kind == kind && (s.space == 0 || s.space == space) && g.selectsNamespace(s, space)
		})
	case c.everywhere[kind]:
		return true
	}
	site := g.namespaceSlot(space)
	if site == 0 {
		return false
	}
	for n := g.slots.at(site).node; n != 0; n = g.nodes.at(n).sibling {
		if !g.nodes.at(n).alive() {
			continue
		}
		for k, v := range g.labelsOf(n) {
			if c.byNamespace[kindLabel{kind, hashOf(k, v)}] != nil {
				return true
			}
		}
	}
	return false
}
