package graph

import "sync/atomic"

// latest is the state of a lens that readers check before and after they read it. Reading it takes no
// lock of the graph, since the writer may hold that for a whole revision.
//
// A reader that reads gets the last revision. A reader that waits is only notified of published
// revisions, which may be fewer; see Graph.ObserveLenses.
type latest struct {
	head      atomic.Uint64              // of the last revision
	vertices  atomic.Int64               // likewise
	bytes     atomic.Int64               // likewise; see Bytes
	uses      atomic.Pointer[latestUses] // likewise; nil if there never were any
	published atomic.Uint64              // the head when the lens was last published
	change    atomic.Value               // a chan struct{} that the next publication closes
}

// latestUses are the kinds that a view watches, and the revision in which they last changed. They are
// an immutable copy of Lens.uses, which may only be read under the lock. The copy takes some kilobytes
// if the view watches all kinds of a cluster.
type latestUses struct {
	all []Used
	rev uint64
}

// storeHead stores the head, the number of vertices and the bytes for readers without a lock.
func (l *Lens) storeHead() {
	l.latest.head.Store(l.head)
	l.latest.vertices.Store(int64(l.vertices))
	l.storeBytes()
}

func (l *Lens) storeBytes() {
	l.latest.bytes.Store(entryBytes*int64(l.entries.room()) + partBytes*int64(len(l.parts)) + l.partContent + l.tombstones.bytes())
}

// Publish notifies readers of the changes since the last call. They then read the lens under the lock.
// Only the writer calls it, in Update or outside.
func (l *Lens) Publish() {
	if !l.unpublished {
		return
	}
	l.unpublished = false
	l.latest.published.Store(l.head)
	close(l.latest.change.Swap(make(chan struct{})).(chan struct{})) //nolint:forcetypeassert // all that is stored there
}

// Announce notifies readers as if the open revision changed the lens: something that they show beside it
// has changed. In Update.
func (l *Lens) Announce() { l.recounted, l.unpublished = true, true }

// storeUses stores the kinds that the view watches for readers without a lock, and reports whether
// they changed. A reader of a revision finds the kinds of that revision or a later one.
func (l *Lens) storeUses() bool {
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

// Head returns the revision of the last change. A Position with this revision as Known is current.
func (l *Lens) Head() uint64 { return l.latest.head.Load() }

// Vertices returns Counts().Vertices without a lock.
func (l *Lens) Vertices() int { return int(l.latest.vertices.Load()) }

// The memory of an entry including its place in index and log, and of a part without its content, in
// bytes. TestBytes compares them with the heap.
const (
	entryBytes = 50
	partBytes  = 116
)

// Bytes returns the memory of the lens alone, without the objects that it shares with other lenses.
func (l *Lens) Bytes() int64 { return l.latest.bytes.Load() }

// Published returns the last revision that readers were notified of.
func (l *Lens) Published() uint64 { return l.latest.published.Load() }

// Changed returns a channel that is closed when a revision after head is published that changes the
// lens or its uses. If there already was such a revision, the channel is closed.
func (l *Lens) Changed(head uint64) <-chan struct{} {
	// Load the channel before the revision. If no later revision has been published by then, the next
	// publication closes this channel.
	change := l.latest.change.Load().(chan struct{}) //nolint:forcetypeassert // all that is stored there
	if l.Published() > head {
		return closed
	}
	return change
}

// Used is a kind, and the resource under which a view watches it.
type Used struct {
	Kind     Kind
	Resource Resource
}

// Uses returns the kinds that the view watches, in no order, and the revision in which they last
// changed. It returns no kinds if that is not after since. The caller must not change the slice.
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

// Committing returns a channel that is closed when a late lens is committed; nil if the lens has all
// revisions. Readers of the lens wait until then.
func (l *Lens) Committing() <-chan struct{} {
	if late := l.late.Load(); late != nil {
		return late.ended
	}
	return nil
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Counts is the size of a lens.
type Counts struct {
	// Vertices and Arcs are the visible ones, Roots the members that are roots.
	Vertices, Arcs, Roots int
	// Objects counts the members, by resource.
	Objects map[Resource]int
}

// Counts returns the size of the lens as of the last revision.
func (l *Lens) Counts() Counts {
	l.rlock()
	defer l.g.mu.RUnlock()
	c := Counts{Vertices: l.vertices, Arcs: l.arcs, Roots: l.roots, Objects: make(map[Resource]int, len(l.objects))}
	for r, n := range l.objects {
		c.Objects[l.g.resources.at(r)] = n
	}
	return c
}

// Classes counts the visible vertices by class.
func (l *Lens) Classes() [Classes]int {
	l.rlock()
	defer l.g.mu.RUnlock()
	return l.classes
}
