package graph

import (
	"cmp"
	"slices"
	"sync"

	"graphview.dev/graphview/budget"
)

// All readers wait while the graph is locked for writing. A revision changes little of the graph itself, or
// is made in slices. But lenses may have much to commit: an object is cut off from all objects that a hundred
// views reach through it, or a view of 100,000 objects gets other roots. So a revision commits lenses under the
// graph's lock until that has taken commitVisits. Then it unlocks the graph and goes on, in turns of the
// lenses' owners, until it has taken as many again. The lenses that are left are late: the next revisions
// commit them, so that other events need not wait.
//
// Readers of a late lens wait until it is committed. All others go on. No other writer runs, so a commit
// reads the graph without the lock. It takes the lock in pieces to write fields that readers use.

// commitVisits is the number of visits after which a commit unlocks the graph, and the number that it may
// make afterwards before it leaves lenses to the next revision. A thousand take about a tenth of a
// millisecond.
const commitVisits = 1 << 15

// chargedVisits is the number of visits of a commit above which its view is charged for them.
const chargedVisits = 1 << 12

// lensOwner takes turns with other owners of lenses.
type lensOwner struct {
	name   budget.Owner
	lenses int
	// used are the visits that its lenses have taken, as start-time fair queueing counts them: it never lags
	// behind the owner that had the last turn.
	used uint64
}

// lateness is the state of a lens that lacks revisions.
type lateness struct {
	since uint64        // the first revision that it lacks
	ended chan struct{} // closed when it is committed
	// waiting are the readers that wait for the end. The writer lets them read before the next revision, in
	// which the lens may be late again.
	waiting sync.WaitGroup
}

// rlock locks the graph for a reader of the lens, once the lens is not late. The caller unlocks the graph.
func (l *Lens) rlock() {
	l.g.mu.RLock()
	late := l.late.Load()
	if late == nil {
		return
	}
	late.waiting.Add(1)
	l.g.mu.RUnlock()
	<-late.ended
	l.g.mu.RLock()
	late.waiting.Done()
}

// rlockFor locks the graph for a Read. With NoWait it returns ErrCommitting instead of waiting.
func (l *Lens) rlockFor(how Reading) error {
	if !how.NoWait {
		l.rlock()
		return nil
	}
	if l.g.mu.RLock(); l.late.Load() != nil {
		l.g.mu.RUnlock()
		return ErrCommitting
	}
	return nil
}

// awaitReaders waits until the readers that waited for late lenses have locked the graph.
func (g *Graph) awaitReaders() {
	for i, late := range g.ended {
		late.waiting.Wait()
		g.ended[i] = nil
	}
	g.ended = g.ended[:0]
}

// postpone makes the lens late, unless it is.
func (l *Lens) postpone() {
	if l.late.Load() == nil {
		l.late.Store(&lateness{since: l.g.rev, ended: make(chan struct{})})
	}
}

// catchUp ends the lateness of a lens, if it is late. The graph is locked.
func (l *Lens) catchUp() {
	if late := l.late.Load(); late != nil {
		l.late.Store(nil)
		l.g.ended = append(l.g.ended, late)
		close(late.ended)
	}
}

// Late returns the lenses that the last Update left late. The slice is valid until the next Update. Only the
// writer calls it.
func (g *Graph) Late() []*Lens { return g.left }

// commitLenses commits the open revision to lenses, and with it all that late ones lack.
func (g *Graph) commitLenses() (revised []*Lens) {
	g.spent, g.merged = 0, nil
	if len(g.left) == 0 {
		g.left = g.lenses
	} else {
		g.left = slices.Clone(g.lenses)
		sortByTurn(g.left)
	}
	for len(g.left) > 0 && (g.held || g.spent <= 2*g.commitVisits) {
		l := g.left[0]
		g.left = g.left[1:]
		if g.commitLens(l) {
			revised = append(revised, l)
		}
	}
	return revised
}

// commitLens commits a lens, and reports whether it changed.
func (g *Graph) commitLens(l *Lens) bool {
	g.committing = l
	before := g.spent
	l.owner.used = max(l.owner.used, g.turn)
	g.turn = l.owner.used
	g.lacked = &g.open
	if late := l.late.Load(); late != nil {
		g.lacked = g.changesSince(late.since)
	}
	if g.rev-l.base > g.span {
		l.visit(int(l.entries.next))
		l.rebase()
	}
	changed := l.commit()
	if changed && (g.changed == nil || g.changed(l, l.head)) {
		l.Publish()
	}
	if visits := g.spent - before; l.walked > 0 || visits > chargedVisits {
		g.walks = append(g.walks, Walked{l, visits})
	}
	l.walked = 0
	if !g.held {
		g.inPieces(len(g.unsettled.stamps), func(i int) { g.arcs.at(g.unsettled.stamps[i]).setStamp(g.rev) })
		g.unsettled.stamps = g.unsettled.stamps[:0]
		g.lock()
		defer g.unlock()
	}
	l.catchUp()
	g.committing, g.lacked = nil, nil
	return changed
}

// visit counts visits of the commit of the lens. The graph is unlocked after many.
func (l *Lens) visit(n int) {
	g := l.g
	l.owner.used += uint64(n) //nolint:gosec // not negative
	if g.spent += n; g.held && g.spent > g.commitVisits {
		g.unlockToCommit()
	}
}

// unlockToCommit unlocks the graph in the middle of the commit of a lens. This lens and the others
// with changes to commit are late until they are committed.
func (g *Graph) unlockToCommit() {
	g.committing.postpone()
	all := len(g.open.changes)*len(g.left) > g.commitVisits // so that it takes no time to find them
	var late []*Lens
	for _, l := range g.left {
		if all || l.hasChanges() {
			l.postpone()
			late = append(late, l)
		}
	}
	sortByTurn(late)
	g.left = late
	g.unlock()
}

// hasChanges reports whether the lens may have something to commit.
func (l *Lens) hasChanges() bool {
	g := l.g
	if l.late.Load() != nil || len(l.dirty) > 0 || l.replant || l.recounted || l.usesRev == g.rev || len(l.usesWas)+len(l.coverageWas)+len(g.open.existed) > 0 {
		return true
	}
	return l.excludeInferred != l.excludedInferred || slices.ContainsFunc(g.open.changes, func(c arcChange) bool { return l.index.at(c.from) != 0 })
}

// sortByTurn sorts lenses: first by the use of their owners, the least first, then by how long they have
// been late.
func sortByTurn(lenses []*Lens) {
	since := func(l *Lens) uint64 {
		if late := l.late.Load(); late != nil {
			return late.since
		}
		return ^uint64(0)
	}
	slices.SortStableFunc(lenses, func(a, b *Lens) int {
		return cmp.Or(cmp.Compare(a.owner.used, b.owner.used), cmp.Compare(since(a), since(b)))
	})
}

// SetOwner sets whose the lens is. Commits of many visits take turns by owner. Lenses without an owner have
// their turns together. In Update.
func (l *Lens) SetOwner(name budget.Owner) {
	if !l.closed {
		l.g.releaseOwner(l.owner)
		l.owner = l.g.ownerOf(name)
	}
}

// ownerOf returns the owner of a lens.
func (g *Graph) ownerOf(name budget.Owner) *lensOwner {
	o := g.owners[name]
	if o == nil {
		o = &lensOwner{name: name, used: g.turn}
		g.owners[name] = o
	}
	o.lenses++
	return o
}

// releaseOwner takes a lens from an owner, and forgets the owner with the last one.
func (g *Graph) releaseOwner(o *lensOwner) {
	if o.lenses--; o.lenses == 0 {
		delete(g.owners, o.name)
	}
}
