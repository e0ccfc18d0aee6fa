package graph

import "sync/atomic"

// latest is the state of a lens that readers check before and after they read it. It needs no lock
// of the graph, which may take as long as a revision.
type latest struct {
	head     atomic.Uint64              // as of the last revision
	vertices atomic.Int64               // likewise
	change   atomic.Value               // a chan struct{} that the next revision closes which changes the lens or its uses
	uses     atomic.Pointer[latestUses] // as of the last revision; nil if there never were any
}

// latestUses are the kinds that a view watches, and the revision in which they last
// changed. They are immutable. They are a second copy, of some kilobytes where a view
// watches all that a cluster serves: the first one may only be read under the lock.
type latestUses struct {
	all []Used
	rev uint64
}

// tell publishes the head and wakes readers, after the lens or the kinds that the view watches
// changed. They read the lens itself under the lock.
func (l *Lens) tell() {
	l.latest.head.Store(l.head)
	l.latest.vertices.Store(int64(l.vertices))
	close(l.latest.change.Swap(make(chan struct{})).(chan struct{})) //nolint:forcetypeassert // all that is stored there
}

// tellUses publishes the kinds that the view watches, and reports whether they changed. A reader
// of a revision finds the kinds of that revision or a later one.
func (l *Lens) tellUses() bool {
	if last := l.latest.uses.Load(); l.usesRev == 0 || last != nil && last.rev == l.usesRev {
		return false
	}
	now := &latestUses{rev: l.usesRev}
	for k, u := range l.uses {
		if u.resource != 0 {
			now.all = append(now.all, Used{l.g.kinds.at(kindID(k)), l.g.resources.at(u.resource)})
		}
	}
	l.latest.uses.Store(now)
	return true
}

// Head is the revision of the last change. A Position that knows it is current.
func (l *Lens) Head() uint64 { return l.latest.head.Load() }

// Vertices is Counts().Vertices, without a lock.
func (l *Lens) Vertices() int { return int(l.latest.vertices.Load()) }

// Changed returns a channel that is closed by the next revision after head that changes the lens
// or its uses. It is already closed if the lens has changed since head.
func (l *Lens) Changed(head uint64) <-chan struct{} {
	// The channel comes first. If the head is still not later after that, the next revision closes
	// this channel.
	change := l.latest.change.Load().(chan struct{}) //nolint:forcetypeassert // all that is stored there
	if l.Head() > head {
		return closed
	}
	return change
}

// Used is a kind, and the resource under which a view watches it.
type Used struct {
	Kind     Kind
	Resource Resource
}

// Uses are the kinds that the view watches, in no order, and the revision in which they
// last changed; nil where that is not after since. They are not to be changed.
func (l *Lens) Uses(since uint64) ([]Used, uint64) {
	last := l.latest.uses.Load()
	switch {
	case last == nil:
		return nil, 0
	case last.rev <= since:
		return nil, last.rev
	}
	return last.all, last.rev
}

// Aside returns a channel that is closed when the commit of the lens outside the lock ends; nil if
// there is none. Readers of the lens wait until then.
func (l *Lens) Aside() <-chan struct{} {
	if ended := l.aside.Load(); ended != nil {
		return *ended
	}
	return nil
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
