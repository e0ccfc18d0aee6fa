package graph

import (
	"maps"
	"slices"
)

// A selector may ask, beside the labels of what it selects, for labels of the
// namespace that this is in. Whoever holds such a one is in Graph.byNamespace.

// setByNamespace notes whether the node holds selectors that ask for namespaces.
func (g *Graph) setByNamespace(id nodeID, held []*selector) {
	for _, s := range held {
		if s.sites != nil {
			g.byNamespace[id] = struct{}{}
			return
		}
	}
	delete(g.byNamespace, id)
}

// namespaceSlot is the slot of a namespace's own object, 0 if there is none.
func (g *Graph) namespaceSlot(space spaceID) slotID {
	if space == clusterSpace {
		return 0
	}
	id, _ := g.findSlot(g.namespaces, clusterSpace, g.spaces.at(space))
	return id
}

// selectsNamespace tells whether the selector selects in a namespace.
func (g *Graph) selectsNamespace(s *selector, space spaceID) bool {
	if s.sites == nil {
		return true
	}
	site := g.namespaceSlot(space)
	if site == 0 {
		return false
	}
	for n := g.slots.at(site).node; n != 0; n = g.nodes.at(n).sibling {
		if g.nodes.at(n).alive() && s.sites.Matches(g.labelsOf(n)) {
			return true
		}
	}
	return false
}

// namespaceRelabelled brings arcs into a namespace up to date after its object came, went or
// changed labels.
func (g *Graph) namespaceRelabelled(name string) {
	space := g.spaces.find(name)
	if space == 0 {
		return
	}
	there := g.arcsByNamespaceLabel(space)
	looking, pairs := make(map[kindID][]nodeID), len(there)
	for n := range g.byNamespace {
		h := g.nodes.at(n).holder
		if h.dropped != nil {
			continue
		}
		for kind := range kindsByNamespace(h) {
			if sc := g.scopeAt(kind, space); sc != nil && g.looksIn(h, kind, space) {
				looking[kind] = append(looking[kind], n)
				pairs += len(sc.slots)
			}
		}
	}
	if !g.atOnce(pairs) {
		g.alignments = append(g.alignments, &alignment{there: there})
		for kind, holders := range looking {
			g.alignments = append(g.alignments, &alignment{holders: holders, slots: slices.Clone(g.scopeAt(kind, space).slots)})
		}
		return
	}
	for _, a := range there {
		g.reselect(a)
	}
	for kind, holders := range looking {
		for _, n := range holders {
			for _, to := range g.scopeAt(kind, space).slots {
				g.selectSlot(n, g.nodes.at(n).holder, to)
			}
		}
	}
}

// kindsByNamespace are the kinds of what a holder selects by labels of namespaces.
func kindsByNamespace(h *holder) map[kindID]struct{} {
	kinds := make(map[kindID]struct{})
	for _, s := range h.selectors {
		if s.sites != nil {
			kinds[s.kind] = struct{}{}
		}
	}
	return kinds
}

// arcsByNamespaceLabel lists the arcs that selectors make into a namespace for its labels. It
// looks at what is in the namespace, not at all that the selectors match.
func (g *Graph) arcsByNamespaceLabel(space spaceID) []arcID {
	kinds := make(map[kindID]struct{})
	for n := range g.byNamespace {
		maps.Copy(kinds, kindsByNamespace(g.nodes.at(n).holder))
	}
	var found []arcID
	for kind := range kinds {
		sc := g.scopeAt(kind, space)
		if sc == nil {
			continue
		}
		g.visits += len(sc.slots)
		for _, to := range sc.slots {
			for id := g.slots.at(to).in; id != 0; {
				a := g.arcs.at(id)
				if a.flags&byNamespaceLabel != 0 {
					found = append(found, id)
				}
				id = a.nextIn
			}
		}
	}
	return found
}

// seesNamespace tells whether the object of a namespace is a member of the view; sawNamespace,
// whether it was in the last revision.
func (l *Lens) seesNamespace(space spaceID) bool {
	site := l.g.namespaceSlot(space)
	if site == 0 {
		return false
	}
	e := l.entryAt(site)
	return e != 0 && l.active(l.entries.at(e))
}

func (l *Lens) sawNamespace(space spaceID) bool {
	site := l.g.namespaceSlot(space)
	if site == 0 {
		return false
	}
	e := l.entryUnder(site, l.useBefore(l.g.namespaces).resource)
	return e != 0 && l.entries.at(e).flags&present != 0
}

// admits tells whether the view may follow an arc, as far as this depends on
// what it knows of its target's namespace, and on whether it has inferred references.
func (l *Lens) admits(a *arc) bool {
	if l.certain && onlyInferred(a.flags) {
		return false
	}
	return !onlyByNamespace(a.flags) || l.seesNamespace(l.g.slots.at(a.to).space)
}

// namespacesRelabelled lists the namespaces whose objects became members in the open
// revision or ceased to be, as far as a selector asks for such.
func (l *Lens) namespacesRelabelled() []spaceID {
	g := l.g
	if len(g.byNamespace) == 0 {
		return nil
	}
	var changed []spaceID
	for _, e := range l.dirty {
		p := l.entries.at(e)
		at := g.slots.at(g.nodes.at(p.node).slot)
		if at.kind != g.namespaces || (p.flags&present != 0) == l.active(p) {
			continue
		}
		if space := g.spaces.find(at.name); space != 0 {
			changed = append(changed, space)
		}
	}
	return changed
}

// examineNamespaces examines the arcs into namespaces whose objects became members or
// ceased to be, but those that the commit examines for another reason.
func (l *Lens) examineNamespaces(changed []spaceID) {
	g := l.g
	if len(changed) == 0 {
		return
	}
	for _, space := range changed {
		for _, id := range g.arcsByNamespaceLabel(space) {
			a := g.arcs.at(id)
			from := l.index.at(a.from)
			if from == 0 || a.flags&recorded != 0 || !l.stable(l.entries.at(from)) {
				continue
			}
			if _, ok := l.usesWas[g.slots.at(a.to).kind]; ok {
				continue
			}
			if to := l.entryAt(a.to); to == 0 || l.stable(l.entries.at(to)) {
				l.examine(from, id, arcState{exists: true, flags: a.flags, uid: a.uid})
			}
		}
	}
}
