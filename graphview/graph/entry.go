package graph

// Flags of an entry.
const (
	member      uint16 = 1 << iota // a member of the view
	root                           // a member and a root
	reached                        // a path leads to it from a root
	shown                          // visible as of the last commit
	dirty                          // in Lens.dirty
	fresh                          // its content changed in the open revision
	present                        // active as of the last commit
	rerooted                       // it became a root or ceased to be one in the open revision
	sideChanged                    // something other than its content changed in the open revision
	searched                       // repair found no reached neighbour
)

// byRoot is the support of an entry that is reached because it is a root.
const byRoot = ^entryID(0)

// entry is the state of one node in a lens. It lives while the node is a member or a tombstone refers
// to it. There is one for each vertex of each view, so it is small: revisions are stamps, and fields
// that are equal in all views, such as the labels, are fields of the node.
type entry struct {
	node    nodeID
	support entryID // the entry that it is reached from, or byRoot; 0 if it is not reached
	since   stamp   // when it last appeared or disappeared
	changed stamp   // when its content last changed
	logged  stamp   // number of its live element in the log
	flags   uint16
	class   Class // its class in Lens.classes while it is shown
	// lacking counts its shown arcs to targets that exist nowhere and are needed: owners, and targets of required
	// references. From mostLacking on, it no longer counts down.
	lacking uint8
}

const mostLacking = 255

// countLacking adds 1 or -1 to lacking.
func (p *entry) countLacking(by int) {
	if p.lacking < mostLacking {
		p.lacking += uint8(by) //nolint:gosec // modulo 256
	}
}

// part is the part of the node's content that the view shows.
type part struct {
	content any
	hash    uint64
	of      contentID // the content that the view decided about; zero if the graph had another one
}

// stamp is a revision relative to the base of its lens. 0 is none; 1 is also any revision before the
// base.
type stamp uint32

// maxSpan is the distance of a revision from the base at which the base is moved: weeks, at a thousand
// changes per second.
const maxSpan = 1 << 31

func (l *Lens) stamp(rev uint64) stamp {
	if rev <= l.base {
		return 0
	}
	return stamp(rev - l.base) //nolint:gosec // rebase keeps it below maxSpan
}

// rev returns the revision of a stamp.
func (l *Lens) rev(s stamp) uint64 { return l.base + uint64(s) }

// rebase moves the base, so that stamps do not overflow. Revisions older than half the span lose their
// order. Readers at such positions, or in the middle of a walk, get ErrGone.
func (l *Lens) rebase() {
	floor := l.g.rev - l.g.span/2
	l.dropTombstones(floor, len(l.tombstones.order))
	l.squeeze()
	// The elements up to floor keep their order: they get the last numbers up to it.
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
	// If the last change is older, the head becomes floor: a reader that starts again gets the same.
	l.head = max(l.head, floor)
	l.latest.head.Store(l.head)
}

// older returns a stamp after the base has moved: 1 if its revision is not after the new base.
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

// index finds the entry of a node. Nodes that are watched together have ids close to each other, so
// each small page is nearly full or not allocated.
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
