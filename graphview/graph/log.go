package graph

import "sort"

// log orders a lens's entries by their last change. An entry has one live element, its newest. Older
// elements are dead, and squeezed out when they are a quarter as many as the live ones. This costs a
// visit of five elements per change, but the memory matters more: each view has a log.
type log struct {
	elements []element
	live     int
}

type element struct {
	number stamp // not smaller than the numbers before it
	entry  entryID
}

// after returns the index of the first element with a number above n.
func (g *log) after(n stamp) int {
	return sort.Search(len(g.elements), func(i int) bool { return g.elements[i].number > n })
}

// push moves an entry to the end of the log, once per revision.
func (l *Lens) push(e entryID) {
	p := l.entries.at(e)
	if p.logged >= l.stamp(l.g.rev) {
		return
	}
	if p.logged == 0 {
		l.log.live++
	}
	l.head = max(l.head+1, l.g.rev)
	p.logged = l.stamp(l.head)
	if n := len(l.log.elements); n == cap(l.log.elements) {
		// Grow by an eighth, less than append does, since each view has a log.
		l.log.elements = append(make([]element, 0, n+n/8+64), l.log.elements...)
	}
	l.log.elements = append(l.log.elements, element{number: p.logged, entry: e})
}

// unlog removes an entry from the log.
func (l *Lens) unlog(p *entry) {
	if p.logged != 0 {
		p.logged = 0
		l.log.live--
	}
}

// squeeze drops dead elements.
func (l *Lens) squeeze() {
	kept := l.log.elements[:0]
	for _, el := range l.log.elements {
		if l.entries.at(el.entry).logged == el.number {
			kept = append(kept, el)
		}
	}
	l.log.elements = kept
}

// tombstones has the vertices and arcs that disappeared, oldest first, until the horizon passes them.
type tombstones struct {
	// horizon is the revision up to which tombstones were dropped. A reader with an older position
	// cannot learn which vertices and arcs disappeared.
	horizon uint64
	// arcs are linked by the entry that they started at, newest first.
	arcs   slab[tombstoneID, arcTombstone]
	newest map[entryID]tombstoneID
	order  []tombstone
	// mostNewest is the largest number of entries in newest, and allotted the number of tombstones that
	// the memory of order has room for. Neither a map nor a slice gives memory back when it gets smaller.
	mostNewest, allotted int
}

// The memory of tombstones, in bytes: of an arc, of an entry that arcs started at, and of an element of
// order. TestTombstoneBytes compares them with the heap.
const (
	arcTombstoneBytes    = 46
	newestTombstoneBytes = 20
	tombstoneBytes       = 16
)

// bytes returns the memory of the tombstones.
func (t *tombstones) bytes() int64 {
	return arcTombstoneBytes*int64(t.arcs.room()) + newestTombstoneBytes*int64(t.mostNewest) + tombstoneBytes*int64(t.allotted)
}

// add adds the newest tombstone.
func (t *tombstones) add(newest tombstone) {
	full := len(t.order) == cap(t.order)
	if t.order = append(t.order, newest); full {
		t.allotted = cap(t.order)
	}
}

// arcTombstone is an arc that is no longer shown to at least some of its readers.
type arcTombstone struct {
	to           slotID
	resource     resID
	typ          ArcType
	readers      audience
	rev          uint64
	entry        entryID
	older, newer tombstoneID // of the same entry
}

// tombstone is the tombstone of a vertex, or of one arc that started at it.
type tombstone struct {
	rev   uint64
	entry entryID
	arc   tombstoneID // 0 for the vertex
}

// minTombstones tombstones are always kept, and as many more as a quarter of the visible vertices.
const minTombstones = 8192

func (l *Lens) entombArc(e entryID, d arcTombstone) {
	if l.tombstones.newest == nil {
		l.tombstones.newest = make(map[entryID]tombstoneID)
	}
	l.g.slots.at(d.to).pins++
	l.g.resources.hold(d.resource)
	d.rev, d.entry, d.older = l.g.rev, e, l.tombstones.newest[e]
	id := l.tombstones.arcs.alloc()
	*l.tombstones.arcs.at(id) = d
	if d.older != 0 {
		l.tombstones.arcs.at(d.older).newer = id
	}
	l.tombstones.newest[e] = id
	l.tombstones.mostNewest = max(l.tombstones.mostNewest, len(l.tombstones.newest))
	l.tombstones.add(tombstone{rev: l.g.rev, entry: e, arc: id})
}

func (l *Lens) entombVertex(e entryID) {
	l.tombstones.add(tombstone{rev: l.g.rev, entry: e})
}

// clearTombstones drops the oldest tombstones above the number that is kept.
func (l *Lens) clearTombstones() {
	excess := len(l.tombstones.order) - minTombstones - l.vertices/4
	if excess <= 0 {
		return
	}
	l.visit(excess)
	// Without these, the other tombstones of that revision are useless, and are dropped next.
	l.dropTombstones(l.tombstones.order[excess-1].rev, excess)
}

// Forget drops the tombstones up to a revision, in slices; see Graph.HasCleanup. A reader at an older
// position gets ErrGone. In Update.
func (l *Lens) Forget(rev uint64) {
	if !l.closed {
		l.g.cleanups = append(l.g.cleanups, &dropTombstones{l, rev})
	}
}

// dropTombstones drops at most most tombstones up to a revision. It reports whether none is left.
func (l *Lens) dropTombstones(rev uint64, most int) bool {
	done := 0
	for _, gr := range l.tombstones.order {
		if gr.rev > rev || done == most {
			break
		}
		done++
		l.tombstones.horizon = gr.rev
		if gr.arc != 0 {
			// The id may have been reused since its entry was freed.
			if d := l.tombstones.arcs.at(gr.arc); d.entry == gr.entry && d.rev == gr.rev {
				l.forgetArc(gr.arc)
			}
			continue
		}
		if p := l.entries.at(gr.entry); p.flags&shown == 0 && l.rev(p.since) == gr.rev && p.node != 0 {
			l.unlog(p)
			if p.flags&dirty == 0 { // else the commit frees it, after a look at its former state
				l.free(gr.entry)
			}
		}
	}
	// The memory of dropped tombstones is freed when the slice next grows. Moving the others now would
	// cost every revision the length of the slice.
	l.tombstones.order = l.tombstones.order[done:]
	return done < most || len(l.tombstones.order) == 0 || l.tombstones.order[0].rev > rev
}

// forgetArc drops the tombstone of an arc, in constant time.
func (l *Lens) forgetArc(id tombstoneID) {
	d := *l.tombstones.arcs.at(id)
	if d.older != 0 {
		l.tombstones.arcs.at(d.older).newer = d.newer
	}
	switch {
	case d.newer != 0:
		l.tombstones.arcs.at(d.newer).older = d.older
	case d.older != 0:
		l.tombstones.newest[d.entry] = d.older
	default:
		delete(l.tombstones.newest, d.entry)
	}
	l.tombstones.arcs.release(id)
	l.g.resources.release(d.resource)
	l.g.unpinSlot(d.to)
}

// forgetArcs drops all arc tombstones of an entry.
func (l *Lens) forgetArcs(e entryID) {
	for id := l.tombstones.newest[e]; id != 0; id = l.tombstones.newest[e] {
		l.forgetArc(id)
	}
}

// free releases an entry and its tombstones, unless it is a member.
func (l *Lens) free(e entryID) {
	p := l.entries.at(e)
	if p.flags&member != 0 {
		return
	}
	l.unlog(p)
	l.forgetArcs(e)
	n := p.node
	l.index.set(n, 0)
	l.entries.release(e)
	l.g.unpinNode(n)
}
