package graph

// A selector may ask, beside the labels of what it selects, for labels of the
// namespace that this is in. Whoever holds such a one is in Graph.siting.

// setSiting notes whether the node holds selectors that ask for namespaces.
func (g *Graph) setSiting(id nodeID, held []*selector) {
	for _, s := range held {
		if s.sites != nil {
			g.siting[id] = struct{}{}
			return
		}
	}
	delete(g.siting, id)
}

// siteOf is the slot of a namespace's own object, 0 if there is none.
func (g *Graph) siteOf(space spaceID) slotID {
	if space == clusterSpace {
		return 0
	}
	id, _ := g.findSlot(g.namespaces, clusterSpace, g.spaces.at(space))
	return id
}

// sitesIn tells whether the selector selects in a namespace.
func (g *Graph) sitesIn(s *selector, space spaceID) bool {
	if s.sites == nil {
		return true
	}
	site := g.siteOf(space)
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

// resited brings arcs into a namespace up to date after its object came, went or
// changed labels.
func (g *Graph) resited(name string) {
	space := g.spaces.find(name)
	if space == 0 {
		return
	}
	for n := range g.siting {
		for _, a := range g.sitedArcs(n, space) {
			g.reselect(a)
		}
		for _, s := range g.nodes.at(n).held() {
			sc := g.selection[scopeKey{s.kind, space}]
			if sc == nil || s.sites == nil || !g.sitesIn(s, space) {
				continue
			}
			for _, to := range sc.slots {
				if s.holder.dropped == nil && g.selectsSlot(s, to) {
					g.selectArc(s, to)
				}
			}
		}
	}
}

// sitedArcs lists the arcs that selectors of a node make into a namespace for
// its labels.
func (g *Graph) sitedArcs(from nodeID, space spaceID) []arcID {
	var found []arcID
	for id := g.nodes.at(from).out; id != 0; {
		a := g.arcs.at(id)
		if a.flags&sited != 0 && g.slots.at(a.to).space == space {
			found = append(found, id)
		}
		id = a.nextOut
	}
	return found
}

// seesSite tells whether the object of a namespace is a member of the view; sawSite,
// whether it was in the last revision.
func (l *Lens) seesSite(space spaceID) bool {
	site := l.g.siteOf(space)
	if site == 0 {
		return false
	}
	e := l.entryAt(site)
	return e != 0 && l.active(l.entries.at(e))
}

func (l *Lens) sawSite(space spaceID) bool {
	site := l.g.siteOf(space)
	if site == 0 {
		return false
	}
	e := l.entryUnder(site, l.useBefore(l.g.namespaces).resource)
	return e != 0 && l.entries.at(e).flags&present != 0
}

// admits tells whether the view may follow an arc, as far as this depends on
// what it knows of its target's namespace.
func (l *Lens) admits(a *arc) bool {
	return !onlySited(a.flags) || l.seesSite(l.g.slots.at(a.to).space)
}

// sitesChanged lists the namespaces whose objects became members in the open
// revision or ceased to be, as far as a selector asks for such.
func (l *Lens) sitesChanged() []spaceID {
	g := l.g
	if len(g.siting) == 0 {
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

// examineSites examines the arcs into namespaces whose objects became members or
// ceased to be, but those that the commit examines for another reason.
func (l *Lens) examineSites(changed []spaceID) {
	g := l.g
	if len(changed) == 0 {
		return
	}
	for n := range g.siting {
		from := l.index.at(n)
		if from == 0 || !l.stable(l.entries.at(from)) {
			continue
		}
		for _, space := range changed {
			for _, id := range g.sitedArcs(n, space) {
				a := g.arcs.at(id)
				if _, ok := l.usesWas[g.slots.at(a.to).kind]; ok || a.flags&recorded != 0 {
					continue
				}
				if to := l.entryAt(a.to); to == 0 || l.stable(l.entries.at(to)) {
					l.examine(from, id, arcState{exists: true, flags: a.flags, uid: a.uid})
				}
			}
		}
	}
}
