package graph

// Update runs fn as the graph's one writer and then commits its changes as one revision, to lenses in turns
// of their owners. It returns the lenses that changed. The lenses that got no turn are late: the following
// Updates, which may be empty, commit them; see HasCleanup. Only one goroutine may call Update.
func (g *Graph) Update(fn func()) (revised []*Lens) {
	g.awaitReaders()
	g.lock()
	defer g.unlock()
	g.visits = 0
	clear(g.walks)
	g.walks = g.walks[:0]
	fn()
	g.work()
	g.enforce()
	g.observed()
	revised = g.commitLenses()
	g.settle()
	g.finish()
	return revised
}

// Visits returns the approximate number of elements that the open revision visits, including its
// commit, which visits each changed arc for each lens. It measures how long the graph is locked,
// independent of other load on the machine. In Update, and until the next one.
func (g *Graph) Visits() int { return g.visits + len(g.open.changes)*len(g.lenses) }

// AddSource adds a source of objects of one kind under one resource. In Update.
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

// RemoveSource removes, in slices, everything that only the source claims; see HasCleanup. In Update.
func (g *Graph) RemoveSource(id SourceID) {
	src := g.sources[id]
	if src == nil {
		return
	}
	for l := range src.lenses {
		l.Unwatch(id)
	}
	delete(g.sources, id)
	g.removals.add(g, id, *src)
}

// ObserveLock sets functions that the writer calls after the graph is locked for writing and before
// it is unlocked. Call it before the first Update.
func (g *Graph) ObserveLock(locked, unlocked func()) { g.locked, g.unlocking = locked, unlocked }

// ObserveLenses sets a function that the writer calls for each lens that a revision changed, before a
// reader can see the revision. The function reports whether readers are notified now; if not, the
// writer calls Publish later. So readers of a small lens do not wait until the revision is committed
// to large ones. The function must not read the lens. Call ObserveLenses before the first Update.
func (g *Graph) ObserveLenses(changed func(l *Lens, head uint64) (publish bool)) { g.changed = changed }

// lock locks the graph for the writer, unless it is locked. unlock unlocks it if it is.
func (g *Graph) lock() {
	if g.held {
		return
	}
	g.mu.Lock()
	if g.held = true; g.locked != nil {
		g.locked()
	}
}

func (g *Graph) unlock() {
	if !g.held {
		return
	}
	if g.unlocking != nil {
		g.unlocking()
	}
	g.held = false
	g.mu.Unlock()
}

// finish opens the next revision.
func (g *Graph) finish() {
	g.lock()
	if len(g.cleanups) == 0 && !g.HasOpenUpdate() {
		g.outOf = outOf{}
	}
	g.sweep()
	g.payNames()
	g.rev++
	for _, l := range g.lenses {
		g.rev = max(g.rev, l.head+1)
	}
	g.open.rev = g.rev
}

// sweep drops the kinds, resources, namespaces and paths that are no longer held.
func (g *Graph) sweep() {
	g.kinds.sweep(func(id kindID) {
		g.scopes[id] = ScopeUnknown
		delete(g.selective, id)
	})
	g.resources.sweep(nil)
	g.paths.sweep(g.dropFields)
	g.spaces.sweep(nil) // last, since a path is held by the namespace that pays for it
}

// visitAll counts a visit of each entry of the lens, for a commit that walks through all.
func (l *Lens) visitAll() { l.g.visits += int(l.entries.next) }
