package graph

import (
	"cmp"
	"slices"
)

// Everybody waits while the graph is locked for writing. What one revision changes of
// the graph itself is little, or is made in slices. What a lens makes of it may be much:
// a view of 100,000 objects has other roots, or is of another version of a kind, or
// thousands of its objects refer to one that went. It is one revision all the same. So a
// lens that has much to look at is committed when the graph is unlocked again. Its own
// readers wait for that; those of other lenses do not.
//
// The writer may read the graph without the lock: nobody else writes. Whatever a reader
// looks at is written under the lock also then, in pieces.

// LockObserver is told when the graph is locked for writing, and when no longer. It is
// told by the writer alone.
type LockObserver interface {
	Locked()
	Unlocked()
}

// ObserveLock has an observer told, before the first Update.
func (g *Graph) ObserveLock(o LockObserver) { g.observer = o }

// ObserveLenses has it told, before the first Update, that a lens has changed and in which
// revision: by the writer, and before anybody can read it. What is told may not read the
// lens.
func (g *Graph) ObserveLenses(changed func(l *Lens, head uint64)) { g.changed = changed }

func (g *Graph) lock() {
	g.mu.Lock()
	if g.observer != nil {
		g.observer.Locked()
	}
}

func (g *Graph) unlock() {
	if g.observer != nil {
		g.observer.Unlocked()
	}
	g.mu.Unlock()
}

// rlockTries is how often a reader waits for the end of a commit aside.
const rlockTries = 2

// rlock locks the graph for a reader of the lens, who has to unlock it. It waits while
// the lens is committed aside.
func (l *Lens) rlock() {
	for range rlockTries {
		if l.rlockNow() {
			return
		}
		if ended := l.Aside(); ended != nil {
			<-ended
		}
	}
	if l.rlockNow() {
		return
	}
	// Under load the next revision is committed aside before whoever waited for the last one
	// gets to run, again and again. Between two revisions no lens is committed, and the writer
	// lets all in there who are waiting by then.
	l.g.writing.RLock()
	l.g.mu.RLock()
	l.g.writing.RUnlock()
}

// rlockNow is rlock for those who do not wait for that: false, and nothing is locked.
func (l *Lens) rlockNow() bool {
	l.g.mu.RLock()
	if l.aside.Load() == nil {
		return true
	}
	l.g.mu.RUnlock()
	return false
}

// rlockFor locks the graph for a Read, which is an ErrAside where it did not.
func (l *Lens) rlockFor(how Reading) error {
	if !how.NoWait {
		l.rlock()
		return nil
	}
	if !l.rlockNow() {
		return ErrAside
	}
	return nil
}

// fewEntries is how many entries a lens has that is committed under the lock, whatever
// has changed of it.
const fewEntries = 512

// goesAside tells whether a lens is committed when the graph is unlocked again: because
// all of it is looked at, or all that is within its depth, or all that is in a namespace,
// or because all lenses together have too much to look at.
func (l *Lens) goesAside(tooMuch bool) bool {
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

// unsettled is what lenses that were committed aside have left to do in the graph.
type unsettled struct {
	stamps []arcID // of arcs that look different in the open revision
	nodes  []nodeID
	slots  []slotID
}

// commitAside commits lenses one after the other, the smallest first, and lets the
// readers of each go on. It returns those that changed.
func (g *Graph) commitAside(lenses []*Lens) (revised []*Lens) {
	slices.SortFunc(lenses, func(a, b *Lens) int { return cmp.Compare(a.entries.next, b.entries.next) })
	g.unlocked = true
	for _, l := range lenses {
		l.unnoted = g.rev
		if g.commitLens(l) {
			revised = append(revised, l)
		}
		g.inPieces(len(g.unsettled.stamps), func(i int) { g.arcs.at(g.unsettled.stamps[i]).stamp = g.rev })
		g.unsettled.stamps = g.unsettled.stamps[:0]
		ended := l.aside.Load()
		g.lock()
		l.aside.Store(nil)
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

// inPieces does something to each of n things, and lets readers in again and again.
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

// unpinNode gives up a node that a lens had an entry for; unpinSlot, the name that a
// tombstone needed.
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

// restamp notes that an arc changed in the open revision.
func (g *Graph) restamp(id arcID) {
	a := g.arcs.at(id)
	switch {
	case a.stamp == g.rev:
	case g.unlocked:
		g.unsettled.stamps = append(g.unsettled.stamps, id)
	default:
		a.stamp = g.rev
	}
}

// visitAll counts that the commit has to look at all entries of the lens.
func (l *Lens) visitAll() {
	n := int(l.entries.next)
	l.g.visits += n
	if n > l.g.fewEntries {
		l.g.whole += n
	}
}
