package graph

import (
	"cmp"
	"slices"

	"graphview.dev/graphview/budget"
)

// What objects name need not exist: each name that nobody bears costs a placeholder
// and an arc, several times its text. So what the references of one namespace's
// objects name is bounded too. Beyond the bound, the objects that name most go first,
// and have no arcs by name until there is room when they change or are read again, or
// until they name less; see RetryReferences. Unlike selectors, the graph does not keep what it does not show.
var namedOfNamespace = budget.Declare("references_namespace",
	"different objects that the references of one namespace's objects name, each counted once for each object and type of reference", 1_000_000)

// unnamed is an object whose references by name are left out.
type unnamed struct {
	names int
	// again: there is room for them, once somebody tells what they are.
	again bool
}

// setNamed notes how much a node's references name.
func (g *Graph) setNamed(id nodeID, names int) {
	n := g.nodes.at(id)
	if len(g.unnamed) > 0 {
		if _, ok := g.unnamed[id]; ok {
			delete(g.unnamed, id)
			g.judged[id] = struct{}{}
		}
	}
	more := names - int(n.names)
	if more == 0 {
		return
	}
	n.names = uint32(names) //nolint:gosec // of one object
	space := g.slots.at(n.slot).space
	total := g.named[space] + more
	if total == 0 {
		delete(g.named, space)
		return
	}
	if g.named[space] = total; more > 0 && total > g.mostNamed {
		g.crowded[space] = struct{}{}
	}
}

// staysUnnamed tells whether the references of an object are left out as before: it
// names no less, and there is no room. So nobody has to look for who names most.
func (g *Graph) staysUnnamed(id nodeID, want []wanted) bool {
	u, ok := g.unnamed[id]
	if !ok || len(want) < u.names || g.named[g.slots.at(g.nodes.at(id).slot).space]+len(want) <= g.mostNamed {
		return false
	}
	g.unnamed[id] = unnamed{names: len(want)}
	namedOfNamespace.Exceed()
	// Nothing else may need what was made to compare the names. Several may be of one slot.
	for i := range want {
		g.slots.at(want[i].to).pins++
	}
	for i := range want {
		g.slots.at(want[i].to).pins--
		g.dropSlot(want[i].to)
		want[i].fields = nil
	}
	return true
}

// enforceNames takes away the arcs by name of those that name most where a namespace
// exceeds its bound. What is about to go anyway goes first.
func (g *Graph) enforceNames() {
	if len(g.crowded) == 0 || slices.ContainsFunc(g.chores, func(c chore) bool { _, ok := c.(*unclaiming); return ok }) {
		return
	}
	for space := range g.crowded {
		total := g.named[space]
		if total <= g.mostNamed {
			continue
		}
		var naming []nodeID
		for _, scopes := range g.selection {
			sc := scopes[space]
			if sc == nil {
				continue
			}
			g.visits += len(sc.slots)
			for _, slot := range sc.slots {
				for n := g.slots.at(slot).node; n != 0; n = g.nodes.at(n).sibling {
					if g.nodes.at(n).names > 0 {
						naming = append(naming, n)
					}
				}
			}
		}
		g.sortByNames(naming, func(n nodeID) int { return int(g.nodes.at(n).names) })
		for len(naming) > 0 && total > g.mostNamed {
			last := naming[len(naming)-1]
			naming = naming[:len(naming)-1]
			total -= int(g.nodes.at(last).names)
			g.leaveUnnamed(last)
		}
	}
	clear(g.crowded)
}

// leaveUnnamed takes away the arcs by name of one object.
func (g *Graph) leaveUnnamed(id nodeID) {
	names := int(g.nodes.at(id).names)
	g.setNames(id, nil)
	g.unnamed[id] = unnamed{names: names}
	g.judged[id] = struct{}{}
	namedOfNamespace.Exceed()
}

// sortByNames sorts by how much is named, and where that is equal by name.
func (g *Graph) sortByNames(ids []nodeID, names func(nodeID) int) {
	slices.SortFunc(ids, func(a, b nodeID) int {
		if c := cmp.Compare(names(a), names(b)); c != 0 {
			return c
		}
		k, o := g.key(a), g.key(b)
		return cmp.Or(cmp.Compare(k.Group, o.Group), cmp.Compare(k.Resource.Resource, o.Resource.Resource), cmp.Compare(k.Name, o.Name), cmp.Compare(k.Version, o.Version))
	})
}

// Unread is an object that is to be set again, as it is: there is room for its
// references, or they point elsewhere.
type Unread struct {
	Sources         []SourceID
	Namespace, Name string
}

// RetryReferences tells whose references were left out and now have room, and whose point
// where objects of their kind no longer live. In Update.
func (g *Graph) RetryReferences() []Unread {
	found := g.retryMisplaced()
	spaces := make(map[spaceID][]nodeID)
	for id := range g.unnamed {
		space := g.slots.at(g.nodes.at(id).slot).space
		spaces[space] = append(spaces[space], id)
	}
	for space, ids := range spaces {
		g.sortByNames(ids, func(n nodeID) int { return g.unnamed[n].names })
		total := g.named[space]
		for _, id := range ids {
			u := g.unnamed[id]
			if total += u.names; total > g.mostNamed {
				break
			}
			u.again = true
			g.unnamed[id] = u
			found = append(found, g.unread(id))
		}
	}
	return found
}

func (g *Graph) unread(id nodeID) Unread {
	at := g.slots.at(g.nodes.at(id).slot)
	return Unread{Sources: g.sourcesOf(id), Namespace: g.spaces.at(at.space), Name: at.name}
}

// sourcesOf are the sources that see an object.
func (g *Graph) sourcesOf(id nodeID) []SourceID {
	return append([]SourceID{g.nodes.at(id).claim}, g.claims[id]...)
}

// boundOf is the bound that a node exceeds, nil for none.
func (g *Graph) boundOf(id nodeID) *budget.Bound {
	if _, ok := g.unnamed[id]; ok {
		return namedOfNamespace
	}
	if h := g.nodes.at(id).holder; h != nil {
		return h.dropped
	}
	return nil
}
