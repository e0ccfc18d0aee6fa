package graph

import (
	"slices"
	"sort"

	"graphview.dev/graphview/budget"
)

// narrowVisits bounds how large a narrowed graph is, and so also how long one walk of a
// reader holds the graph's lock.
var narrowVisits = budget.Declare("narrowed_graph_visits", "references of one narrowed graph, those included that lead twice to the same object", 50_000)

// Narrowing says which part of what a lens shows a reader wants.
type Narrowing struct {
	// Roots are names of objects. A name without a version means the version that the view
	// watches.
	Roots []Key
	// Walk says what there is beside the roots. Its direction is not Forward.
	Walk Walk
}

// Narrowed is the part of a lens that a walk from some roots leads to, for one reader. The
// walk passes only through what the reader may see, so that what is there tells nothing
// of what is hidden from the reader. It is made when the reader reads, and again only if
// something has changed that may make a difference; the lens has no work with it. It
// belongs to one goroutine at a time.
type Narrowed struct {
	l              *Lens
	roots          []Key
	along, against ways
	depth          int
	most           int // narrowVisits, but in tests

	// of is the revision of the lens that all of this is as of, 0 for none.
	of uint64
	// starts are the entries of the roots, 0 for missing ones.
	starts []entryID
	// there are the vertices, and all those too that went and are not forgotten.
	there map[entryID]*narrowVertex
	all   map[Key]*narrowVertex
	arcs  int // of those that are there
	// visits counts the last walk, owed the visits not yet asked for.
	visits, owed int

	log        []narrowElement
	next       uint64 // number of the next element
	tombstones []narrowTombstone
	horizon    uint64 // before which tombstones are forgotten
}

// narrowVertex is a present or former vertex of a narrowed graph.
type narrowVertex struct {
	key    Key
	entry  entryID // 0 if it went
	since  uint64  // when it came or went
	logged uint64  // when the lens last logged it
	number uint64  // of its live element in the log
	arcs   []narrowArc
	gone   []narrowGone // arcs that went, oldest first
}

type narrowArc struct {
	to      *Key
	typ     ArcType
	missing bool
	id      arcID
	since   uint64
}

type narrowGone struct {
	to  *Key
	typ ArcType
	rev uint64
}

// narrowElement is an element of a log that is ordered as that of a Lens.
type narrowElement struct {
	number, rev uint64
	vertex      *narrowVertex
}

// narrowTombstone is that of a vertex, or of one arc that started at it.
type narrowTombstone struct {
	rev    uint64
	vertex *narrowVertex
}

// Narrow makes the part of the lens that a reader wants. Nothing is looked at before the
// first Read.
func (l *Lens) Narrow(w Narrowing) *Narrowed {
	n := &Narrowed{
		l: l, roots: w.Roots, depth: max(0, w.Walk.Depth), most: int(narrowVisits.Limit()),
		starts: make([]entryID, len(w.Roots)), all: make(map[Key]*narrowVertex),
	}
	n.along, n.against = w.Walk.ways()
	return n
}

// Size is the number of vertices and arcs, with tombstones.
func (n *Narrowed) Size() int { return len(n.all) + n.arcs + len(n.tombstones) }

// Owed is what was looked at since this was last asked.
func (n *Narrowed) Owed() int {
	owed := n.owed
	n.owed = 0
	return owed
}

// Absent are the roots that are not there, or that the reader may not see.
func (n *Narrowed) Absent() []Key {
	var absent []Key
	for i, e := range n.starts {
		if e == 0 {
			absent = append(absent, n.roots[i])
		}
	}
	return absent
}

// refresh brings the narrowed graph up to date with the lens. It returns false, and
// changes nothing, where complete says that something had to be known that is not.
func (n *Narrowed) refresh(r *reader, complete func() bool) (bool, error) {
	l := n.l
	if n.of == l.head && n.of != 0 {
		return true, nil
	}
	if n.of != 0 && !n.concerned(r) && complete() {
		n.of = l.head
		return true, nil
	}
	now, err := n.look(r)
	if err != nil {
		return false, err
	}
	if !complete() {
		return false, nil
	}
	if n.of == 0 {
		n.horizon = l.head
	}
	n.of, n.starts = l.head, now.starts
	n.take(now)
	n.forget()
	return true, nil
}

// push moves a vertex to the end of the log.
func (n *Narrowed) push(v *narrowVertex) {
	n.next++
	v.number = n.next
	n.log = append(n.log, narrowElement{n.next, n.of, v})
}

// squeeze drops dead elements of the log.
func (n *Narrowed) squeeze() {
	if len(n.log) > 2*len(n.all)+16 {
		n.log = slices.DeleteFunc(n.log, func(el narrowElement) bool { return el.vertex.number != el.number })
	}
}

// minNarrowTombstones are kept in any case, and then as many as a quarter of the vertices
// and arcs.
const minNarrowTombstones = 256

// forget drops the oldest tombstones above the number that is kept, whole revisions at a time.
func (n *Narrowed) forget() {
	excess := len(n.tombstones) - minNarrowTombstones - (len(n.there)+n.arcs)/4
	if excess <= 0 {
		return
	}
	n.horizon = n.tombstones[excess-1].rev
	done := 0
	for done < len(n.tombstones) && n.tombstones[done].rev <= n.horizon {
		v := n.tombstones[done].vertex
		done++
		v.forget(n.horizon)
		if v.entry == 0 && v.since <= n.horizon && n.all[v.key] == v {
			delete(n.all, v.key)
			v.number = 0
		}
	}
	// Clones, since what was cut off would be held and not counted.
	n.tombstones = slices.Clone(n.tombstones[done:])
	n.squeeze()
}

// forget forgets arcs that went up to a revision. It may be called for each of them.
func (v *narrowVertex) forget(horizon uint64) {
	if len(v.gone) == 0 || v.gone[0].rev > horizon {
		return
	}
	keep := sort.Search(len(v.gone), func(i int) bool { return v.gone[i].rev > horizon })
	v.gone = slices.Clone(v.gone[keep:])
}
