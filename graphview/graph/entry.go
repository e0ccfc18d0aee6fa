package graph

// Flags of an entry.
const (
	member      uint16 = 1 << iota // selected by the view
	root                           // and one of its roots
	reached                        // by a path from a root
	shown                          // visible as of the last revision
	dirty                          // in Lens.dirty
	fresh                          // its content changed in the open revision
	present                        // active as of the last revision
	rerooted                       // it became a root or ceased to be one in the open revision
	sideChanged                    // something else is said of it in the open revision
	searched                       // repair has found no reached neighbour of it
)

// byRoot is the support of an entry that is reached because it is a root.
const byRoot = ^entryID(0)

// entry is what a lens knows of one node. It lives while the node is a member
// or there is a tombstone for it. There is one for each vertex of each view, so
// it is small: revisions are stamps, and what all views have in common, such as
// when the content changed, is the node's.
type entry struct {
	node    nodeID
	support entryID // entry that it is reached from; byRoot; 0
	since   stamp   // when it last appeared or disappeared
	changed stamp   // when its content last changed
	logged  stamp   // number of its live element in the log
	flags   uint16
	class   Class // as which it is counted while it is shown
}

// part is the part of the node's content that the view shows.
type part struct {
	content any
	hash    uint64
	of      contentID // about which the view decided, zero if the graph had another one
}

// stamp is a revision, counted from the base of its lens: 0 is none, and what is
// older than the base is 1.
type stamp uint32

// maxSpan is how far revisions may be from the base before that is moved: at a
// thousand changes a second, weeks.
const maxSpan = 1 << 31

func (l *Lens) stamp(rev uint64) stamp {
	if rev <= l.base {
		return 0
	}
	return stamp(rev - l.base) //nolint:gosec // rebase keeps it below maxSpan
}

// rev is the revision that a stamp stands for.
func (l *Lens) rev(s stamp) uint64 { return l.base + uint64(s) }

// rebase drops the order of revisions older than half the span, so that stamps do not overflow.
// Readers at older positions, or in the middle of a walk, get ErrGone.
func (l *Lens) rebase() {
	floor := l.g.rev - l.g.span/2
	l.dropTombstones(floor, len(l.tombstones.order))
	l.squeeze()
	// The elements up to there keep their order: they are the last before it.
	old := l.log.after(l.stamp(floor))
	room := uint64(max(1, old))
	if floor-room <= l.base {
		return
	}
	by := stamp(floor - room - l.base) //nolint:gosec // less than the span
	for p := range l.all {
		p.since, p.changed = older(p.since, by), older(p.changed, by)
	}
	for i := range l.log.elements {
		el := &l.log.elements[i]
		if el.number = older(el.number, by); i < old {
			el.number = stamp(i + 1)
		}
		l.entries.at(el.entry).logged = el.number
	}
	l.base += uint64(by)
	l.tombstones.horizon = max(l.tombstones.horizon, floor)
	// The lens has not changed since: a reader that starts again gets the same.
	l.head = max(l.head, floor)
	l.latest.head.Store(l.head)
}

// older is a stamp after the base has moved: 1 if that has passed it.
func older(s, by stamp) stamp {
	switch {
	case s == 0:
		return 0
	case s <= by:
		return 1
	}
	return s - by
}

// all yields the entries with their ids.
func (l *Lens) all(yield func(*entry, entryID) bool) {
	for e := entryID(1); e <= l.entries.next; e++ {
		if p := l.entries.at(e); p.node != 0 && !yield(p, e) {
			return
		}
	}
}

// index finds the entry of a node. Nodes that are watched together have ids that
// are close together, so pages of a few are nearly full or not there.
type index struct{ pages []*[1 << indexBits]entryID }

const indexBits = 6

// at returns the entry of a node, 0 if it has none.
func (x *index) at(n nodeID) entryID {
	if p := n >> indexBits; int(p) < len(x.pages) && x.pages[p] != nil {
		return x.pages[p][n&(1<<indexBits-1)]
	}
	return 0
}

func (x *index) set(n nodeID, e entryID) {
	p := int(n >> indexBits)
	if p >= len(x.pages) {
		if e == 0 {
			return
		}
		x.pages = append(x.pages, make([]*[1 << indexBits]entryID, p+1-len(x.pages))...)
	}
	if x.pages[p] == nil {
		x.pages[p] = new([1 << indexBits]entryID)
	}
	x.pages[p][n&(1<<indexBits-1)] = e
}
