package graph

import "slices"

// sparse is how many objects a scope has for each selector that is looked up in its
// postings: with more selectors, looking at the objects is less work.
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

// candidatesIn appends the candidates of one scope: the objects with the rarest label that a
// selector asks for, or all objects if that is not fewer.
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
			p.visit(pair{r.Key, v}, func(n nodeID) { found = append(found, g.nodes.at(n).slot) })
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

// countAll is how many nodes are found for the values of a requirement.
func (p *postings) countAll(r *Requirement) int {
	n := 0
	for _, v := range r.Values {
		n += p.count(pair{r.Key, v})
	}
	return n
}
