package graph

import "slices"

// A selector may also select by labels of the namespaces of its objects. Graph.byNamespace has the
// nodes with such selectors, and Graph.labelled counts the arcs that they make, by the kind of their targets.

// byNamespace lists the kinds that a holder selects by labels of namespaces, each once.
func (h *holder) byNamespace() (kinds []kindID) {
	for _, s := range h.held() {
		if s.namespaceSelector != nil && !slices.Contains(kinds, s.kind) {
			kinds = append(kinds, s.kind)
		}
	}
	return kinds
}

// countLabelled counts an arc to a kind that begins (1) or ceases (-1) to exist because of a label of its target's namespace.
func (g *Graph) countLabelled(kind kindID, by int) {
	if g.labelled[kind] += by; g.labelled[kind] == 0 {
		delete(g.labelled, kind)
	}
}

// namespaceSlot returns the slot of a Namespace object, 0 if there is none.
func (g *Graph) namespaceSlot(space spaceID) slotID {
	if space == clusterSpace {
		return 0
	}
	id, _ := g.findSlot(g.namespaces, clusterSpace, g.spaces.at(space))
	return id
}

// selectsNamespace reports whether the selector may select objects in a namespace.
func (g *Graph) selectsNamespace(s *selector, space spaceID) bool {
	if s.namespaceSelector == nil {
		return true
	}
	site := g.namespaceSlot(space)
	if site == 0 {
		return false
	}
	for n := g.slots.at(site).node; n != 0; n = g.nodes.at(n).sibling {
		if g.nodes.at(n).alive() && s.namespaceSelector.Matches(g.labelsOf(n)) {
			return true
		}
	}
	return false
}

// namespaceRelabelled updates the arcs to the objects in a namespace after the Namespace object
// appeared, disappeared or changed labels.
func (g *Graph) namespaceRelabelled(name string) {
	space := g.spaces.find(name)
	if space == 0 {
		return
	}
	slots := 0
	for kind := range g.labelled {
		if sc := g.scopeAt(kind, space); sc != nil {
			slots += len(sc.slots)
		}
	}
	listed := g.atOnce(slots)
	var there []arcID
	if listed {
		there = g.arcsByNamespaceLabel(space)
	}
	looking, pairs := g.lookingIn(space)
	if !listed || !g.atOnce(len(there)+pairs) {
		g.openUpdates = append(g.openUpdates, &selectorUpdate{existing: there})
		if !listed {
			g.listLater(space)
		}
		for kind, holders := range looking {
			g.openUpdates = append(g.openUpdates, &selectorUpdate{holders: holders, slots: slices.Clone(g.scopeAt(kind, space).slots)})
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

// lookingIn returns the nodes that may select objects in a namespace by its labels, by the kind of
// the objects, and the number of pairs of such a node and an object.
func (g *Graph) lookingIn(space spaceID) (looking map[kindID][]nodeID, pairs int) {
	looking = make(map[kindID][]nodeID)
	for n := range g.byNamespace {
		h := g.nodes.at(n).holder
		for _, kind := range h.byNamespace() {
			if sc := g.scopeAt(kind, space); sc != nil && g.looksIn(h, kind, space) {
				looking[kind] = append(looking[kind], n)
				pairs += len(sc.slots)
			}
		}
	}
	return looking, pairs
}

// looksIn reports whether a holder's selectors may match objects of a kind in a namespace.
func (g *Graph) looksIn(h *holder, kind kindID, space spaceID) bool {
	return slices.ContainsFunc(h.selectors, func(s *selector) bool {
		return s.kind == kind && (s.space == 0 || s.space == space) && g.selectsNamespace(s, space)
	})
}

// listLater makes later slices list and update the arcs into a namespace that exist because of its
// labels.
func (g *Graph) listLater(space spaceID) {
	for kind := range g.labelled {
		if sc := g.scopeAt(kind, space); sc != nil {
			g.openUpdates = append(g.openUpdates, &selectorUpdate{within: slices.Clone(sc.slots)})
		}
	}
}

// slotsByNamespaceLabel counts the slots that arcsByNamespaceLabel visits for some namespaces.
func (g *Graph) slotsByNamespaceLabel(spaces []spaceID) (slots int) {
	for kind := range g.labelled {
		for _, space := range spaces {
			if sc := g.scopeAt(kind, space); sc != nil {
				slots += len(sc.slots)
			}
		}
	}
	return slots
}

// arcsByNamespaceLabel lists the arcs that selectors make into a namespace because of its labels. It
// visits the objects in the namespace, not all objects that the selectors match.
func (g *Graph) arcsByNamespaceLabel(space spaceID) []arcID {
	var found []arcID
	for kind := range g.labelled {
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

// seesNamespace reports whether the Namespace object is a member of the view; sawNamespace reports
// whether it was one at the last commit of the lens.
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

// namespacesRelabelled lists the namespaces whose Namespace objects became members in the open
// revision or ceased to be members. It lists none if no arc exists because of such labels.
func (l *Lens) namespacesRelabelled() []spaceID {
	g := l.g
	if len(g.labelled) == 0 {
		return nil
	}
	var changed []spaceID
	for _, e := range l.dirty {
		p := l.entries.at(e)
		at := g.slots.at(g.nodes.at(p.node).slot)
		if at.kind != g.namespaces || !l.vertexChanged(p) {
			continue
		}
		if space := g.spaces.find(at.name); space != 0 {
			changed = append(changed, space)
		}
	}
	return changed
}

// examineNamespaces examines the arcs into the namespaces that namespacesRelabelled returned, except
// arcs that the commit examines for another reason.
func (l *Lens) examineNamespaces(changed []spaceID) {
	l.visit(l.g.slotsByNamespaceLabel(changed))
	for _, space := range changed {
		for _, id := range l.g.arcsByNamespaceLabel(space) {
			if l.settled(l.g.arcs.at(id).to) {
				l.examineUnchanged(id)
			}
		}
	}
}
