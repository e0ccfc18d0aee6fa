package graph

// Update runs fn as the graph's one writer and then commits all its changes as one revision. It
// returns the lenses that changed.
func (g *Graph) Update(fn func()) []*Lens {
	g.writing.Lock()
	defer g.writing.Unlock()
	revised, late := g.revise(fn)
	if len(late) > 0 {
		revised = append(revised, g.commitUnlocked(late)...)
	}
	return revised
}

// revise runs fn and commits the lenses with few visits. It returns the lenses that changed, and
// the lenses for commitUnlocked.
func (g *Graph) revise(fn func()) (revised, late []*Lens) {
	g.lock()
	defer g.unlock()
	g.visits, g.whole = 0, 0
	clear(g.walks)
	g.walks = g.walks[:0]
	fn()
	g.work()
	g.updateSelectors()
	g.exceedances = nil
	if g.HasOpenUpdate() {
		g.enforceMeanwhile()
	} else {
		g.enforce()
	}
	return g.commitLenses()
}

// Visits is about how many elements the open revision visits, with its commit, which visits each
// changed arc for each lens. It measures how long the graph is locked, whatever else the machine
// does. In Update, and until the next one.
func (g *Graph) Visits() int { return g.visits + len(g.changes)*len(g.lenses) }

// AddSource announces a source of objects of one kind under one resource. In
// Update.
func (g *Graph) AddSource(kind Kind, resource Resource, scope Scope) SourceID {
	g.lastID++
	k := g.kindFor(kind)
	g.kinds.hold(k)
	r := g.resources.intern(resource)
	g.resources.hold(r)
	g.sources[g.lastID] = &source{kind: k, resource: r, lenses: make(map[*Lens]struct{})}
	g.setScope(k, scope)
	return g.lastID
}

// RemoveSource removes everything that only the source claims, in slices; see Pending. In Update.
func (g *Graph) RemoveSource(id SourceID) {
	src := g.sources[id]
	if src == nil {
		return
	}
	for l := range src.lenses {
		l.Unwatch(id)
	}
	delete(g.sources, id)
	g.cleanups = append(g.cleanups, &removeSource{g: g, id: id, of: *src})
}

// commitLenses commits the open revision to each lens and opens the next revision, unless lenses are
// left for commitUnlocked.
func (g *Graph) commitLenses() (revised, late []*Lens) {
	for l := range g.lenses {
		// Walks and namespaces are only counted as lenses are committed.
		tooMuch := g.Visits()-g.whole > 2*sliceVisits*g.sliceChanges
		switch {
		case l.commitsUnlocked(tooMuch):
			ended := make(chan struct{})
			l.committing.Store(&ended)
			late = append(late, l)
		case g.commitLens(l):
			revised = append(revised, l)
		}
	}
	if len(late) == 0 {
		for i := range g.changes {
			g.settleChange(i)
		}
		g.finish()
	}
	return revised, late
}

// commitLens commits the open revision to a lens, and reports whether that changed.
func (g *Graph) commitLens(l *Lens) bool {
	if g.rev-l.base > g.span {
		l.rebase()
	}
	if !l.commit() {
		return false
	}
	if g.changed == nil || g.changed(l, l.head) {
		l.Publish()
	}
	return true
}

// settleChange releases a changed arc after all lenses are committed.
func (g *Graph) settleChange(i int) {
	c := &g.changes[i]
	if a := g.arcs.at(c.id); a.flags&gone != 0 {
		g.arcs.release(c.id)
	} else {
		a.flags &^= recorded
	}
	g.slots.at(c.to).pins--
	g.nodes.at(c.from).pins--
	to, from := c.to, c.from
	g.dropSlot(to)
	g.dropNode(from)
}

// finish opens the next revision.
func (g *Graph) finish() {
	for _, id := range g.noted {
		g.arcs.at(id).flags &^= noted
	}
	g.noted = g.noted[:0]
	g.visits = g.Visits()
	clear(g.changes)
	g.changes = g.changes[:0]
	clear(g.uidWas)
	g.forgetExistence()
	g.sweep()
	g.rev++
	for l := range g.lenses {
		g.rev = max(g.rev, l.head+1)
	}
}

// sweep drops the kinds, resources, namespaces and paths that are no longer held.
func (g *Graph) sweep() {
	g.kinds.sweep(func(id kindID) {
		g.scopes[id] = ScopeUnknown
		delete(g.selective, id)
	})
	g.resources.sweep(nil)
	g.spaces.sweep(nil)
	g.paths.sweep(g.dropFields)
}
