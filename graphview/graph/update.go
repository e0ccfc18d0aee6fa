package graph

import (
	"cmp"
	"slices"
)

// Update runs fn as the graph's one writer and then commits all its changes as one revision. It
// returns the lenses that changed.
func (g *Graph) Update(fn func()) []*Lens {
	g.writerMu.Lock()
	defer g.writerMu.Unlock()
	revised, late := g.updateLocked(fn)
	if len(late) > 0 {
		revised = append(revised, g.commitUnlocked(late)...)
	}
	return revised
}

// updateLocked runs fn and commits the lenses with few visits. It returns the lenses that changed, and
// the lenses for commitUnlocked.
func (g *Graph) updateLocked(fn func()) (revised, late []*Lens) {
	g.lock()
	defer g.unlock()
	g.visits, g.fullVisits = 0, 0
	clear(g.walks)
	g.walks = g.walks[:0]
	fn()
	g.work()
	g.exceedances = nil
	if g.HasOpenUpdate() {
		g.enforceDuringUpdate()
	} else {
		g.enforce()
	}
	g.observed()
	return g.commitLenses()
}

// Visits returns the approximate number of elements that the open revision visits, including its
// commit, which visits each changed arc for each lens. It measures how long the graph is locked,
// independent of other load on the machine. In Update, and until the next one.
func (g *Graph) Visits() int { return g.visits + len(g.changes)*len(g.lenses) }

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

// commitLenses commits the open revision to each lens and opens the next revision, unless lenses are
// left for commitUnlocked.
func (g *Graph) commitLenses() (revised, late []*Lens) {
	for l := range g.lenses {
		// The visits of walks and namespaces are known only when lenses are committed.
		tooMuch := g.Visits()-g.fullVisits > 2*sliceVisits*g.sliceChanges
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

// commitLens commits the open revision to a lens, and reports whether the lens changed.
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
	if a := g.arcs.at(c.id); a.flags&removed != 0 {
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
	clear(g.formerNodes)
	g.forgetExistence()
	g.sweep()
	g.payNames()
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
	g.paths.sweep(g.dropFields)
	g.spaces.sweep(nil) // last, since a path is held by the namespace that pays for it
}

// All readers wait while the graph is locked for writing. A revision changes little of the graph
// itself, or is made in slices. But a lens may have much to commit in one revision: a view of 100,000
// objects gets other roots, watches another version of a kind, or has thousands of objects that refer
// to a deleted one. Such a lens is committed after the graph is unlocked, and only its own readers
// wait for that.
//
// No other writer runs, so the commit reads the graph without the lock. It takes the lock in pieces to
// write fields that readers use.

// ObserveLock sets functions that the writer calls after the graph is locked for writing and before
// it is unlocked. Call it before the first Update.
func (g *Graph) ObserveLock(locked, unlocked func()) { g.locked, g.unlocking = locked, unlocked }

// ObserveLenses sets a function that the writer calls for each lens that a revision changed, before a
// reader can see the revision. The function reports whether readers are notified now; if not, the
// writer calls Publish later. It must not read the lens. Call ObserveLenses before the first Update.
func (g *Graph) ObserveLenses(changed func(l *Lens, head uint64) (publish bool)) { g.changed = changed }

func (g *Graph) lock() {
	g.mu.Lock()
	if g.locked != nil {
		g.locked()
	}
}

func (g *Graph) unlock() {
	if g.unlocking != nil {
		g.unlocking()
	}
	g.mu.Unlock()
}

// rlockTries is the number of commits outside the lock that a reader waits for.
const rlockTries = 2

// rlock locks the graph for a reader of the lens. It waits while the lens is committed outside the
// lock. The caller unlocks the graph.
func (l *Lens) rlock() {
	for range rlockTries {
		if l.rlockNow() {
			return
		}
		if ended := l.Committing(); ended != nil {
			<-ended
		}
	}
	if l.rlockNow() {
		return
	}
	// Under load, the next commit outside the lock begins before a reader that waited for the last one
	// runs. Between two revisions, no lens is being committed, and the writer releases writerMu, which
	// admits all readers that wait for it.
	l.g.writerMu.RLock()
	l.g.mu.RLock()
	l.g.writerMu.RUnlock()
}

// rlockNow is rlock without waiting: if the lens is being committed, it locks nothing and returns
// false.
func (l *Lens) rlockNow() bool {
	l.g.mu.RLock()
	if l.committing.Load() == nil {
		return true
	}
	l.g.mu.RUnlock()
	return false
}

// rlockFor locks the graph for a Read. With NoWait it returns ErrCommitting instead of waiting.
func (l *Lens) rlockFor(how Reading) error {
	if !how.NoWait {
		l.rlock()
		return nil
	}
	if !l.rlockNow() {
		return ErrCommitting
	}
	return nil
}

// fewEntries is the number of entries up to which a lens is committed under the lock, whatever
// changed.
const fewEntries = 512

// commitsUnlocked reports whether a lens is committed after the graph is unlocked: because the commit
// visits all its entries, all within its depth or all in a namespace, or because all lenses together
// have too many visits.
func (l *Lens) commitsUnlocked(tooMuch bool) bool {
	few := l.g.fewEntries
	switch {
	case tooMuch:
		return true
	case int(l.entries.next) > few && (l.replant || len(l.usesWas)+len(l.coverageWas) > 0 || l.excludeInferred != l.excludedInferred):
		return true
	case l.depth > 0 && l.walked > few && l.walkChanged():
		return true
	}
	relabelled := l.namespacesRelabelled()
	if len(relabelled) == 0 {
		return false
	}
	return l.rooted && int(l.entries.next) > few || l.g.slotsByNamespaceLabel(relabelled) > few
}

// unsettled are the changes of the graph itself that commits outside the lock leave for later.
type unsettled struct {
	stamps []arcID // of arcs that look different in the open revision
	nodes  []nodeID
	slots  []slotID
}

// commitUnlocked commits lenses one by one, the smallest first, and admits the readers of each after
// its commit. It returns the lenses that changed.
func (g *Graph) commitUnlocked(lenses []*Lens) (revised []*Lens) {
	slices.SortFunc(lenses, func(a, b *Lens) int { return cmp.Compare(a.entries.next, b.entries.next) })
	g.unlocked = true
	for _, l := range lenses {
		l.unnoted = g.rev
		if g.commitLens(l) {
			revised = append(revised, l)
		}
		g.inPieces(len(g.unsettled.stamps), func(i int) { g.arcs.at(g.unsettled.stamps[i]).setStamp(g.rev) })
		g.unsettled.stamps = g.unsettled.stamps[:0]
		ended := l.committing.Load()
		g.lock()
		l.committing.Store(nil)
		g.unlock()
		close(*ended)
	}
	g.unlocked = false
	g.inPieces(len(g.unsettled.nodes), func(i int) { g.unpinNode(g.unsettled.nodes[i]) })
	g.inPieces(len(g.unsettled.slots), func(i int) { g.unpinSlot(g.unsettled.slots[i]) })
	g.unsettled = unsettled{}
	g.inPieces(len(g.changes), g.settleChange)
	g.lock()
	defer g.unlock()
	g.finish()
	return revised
}

// inPieces calls do for each of n items. Between pieces it unlocks the graph for readers.
func (g *Graph) inPieces(n int, do func(i int)) {
	for i := 0; i < n; {
		g.lock()
		for range min(8*g.sliceChanges, n-i) {
			do(i)
			i++
		}
		g.unlock()
	}
}

// unpinNode releases the node of a freed entry; unpinSlot releases the name of a dropped
// tombstone.
func (g *Graph) unpinNode(id nodeID) {
	if g.unlocked {
		g.unsettled.nodes = append(g.unsettled.nodes, id)
		return
	}
	g.nodes.at(id).pins--
	g.dropNode(id)
}

func (g *Graph) unpinSlot(id slotID) {
	if g.unlocked {
		g.unsettled.slots = append(g.unsettled.slots, id)
		return
	}
	g.slots.at(id).pins--
	g.dropSlot(id)
}

// restamp records that an arc changed in the open revision.
func (g *Graph) restamp(id arcID) {
	a := g.arcs.at(id)
	switch {
	case a.stamp() == g.rev:
	case g.unlocked:
		g.unsettled.stamps = append(g.unsettled.stamps, id)
	default:
		a.setStamp(g.rev)
	}
}

// visitAll counts a visit of each entry of the lens, for a commit that walks through all.
func (l *Lens) visitAll() {
	n := int(l.entries.next)
	l.g.visits += n
	if n > l.g.fewEntries {
		l.g.fullVisits += n
	}
}
