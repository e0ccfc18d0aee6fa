package graph

import (
	"slices"

	"graphview.dev/graphview/budget"
)

// narrowVisits bounds how long one walk of a reader holds the graph's lock, and so also
// how large a narrowed graph is.
var narrowVisits = budget.Declare("narrowed_graph_visits", "references that are followed to narrow one graph", 50_000)

// Narrowing says which part of what a lens shows a reader wants.
type Narrowing struct {
	// Roots are names of objects. Without a version it is the one that the view
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
	// starts are the entries of the roots, 0 for those that are not there.
	starts []entryID
	// there are the vertices, and all those too that went and are not forgotten.
	there map[entryID]*narrowVertex
	all   map[Key]*narrowVertex
	arcs  int // of those that are there
	// visits is what the last walk looked at, owed what nobody has asked about.
	visits, owed int

	log        []narrowElement
	next       uint64 // number of the next element
	tombstones []narrowTombstone
	horizon    uint64 // before which tombstones are forgotten
}

// narrowVertex is a vertex of a narrowed graph, or one that was.
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

// narrowTombstone is that of a vertex, or of arcs that started at it.
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

// Size is how many vertices and arcs there are, those that went included.
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
	starts, found, err := n.walk(r)
	if err != nil {
		return false, err
	}
	if !complete() {
		return false, nil
	}
	if n.of == 0 {
		n.horizon = l.head
	}
	n.of, n.starts = l.head, starts
	n.take(r, found)
	n.forget()
	return true, nil
}

// take makes what was found what is there.
func (n *Narrowed) take(r *reader, found []entryID) {
	l := n.l
	next := make(map[entryID]*narrowVertex, len(found))
	var came []*narrowVertex
	for _, e := range found {
		key := l.g.key(l.entries.at(e).node)
		v := n.all[key]
		if v == nil {
			v = &narrowVertex{key: key}
			n.all[key] = v
		}
		if v.entry == 0 {
			came = append(came, v)
		}
		next[e] = v
	}
	staying := make(map[*narrowVertex]bool, len(next))
	for _, v := range next {
		staying[v] = true
	}
	// As in the log of a lens, what went is first.
	for _, v := range n.there {
		if !staying[v] {
			n.remove(v)
		}
	}
	for _, v := range came {
		v.since = n.of
	}
	for _, e := range found {
		v := next[e]
		v.entry = e
		logged := l.rev(l.entries.at(e).logged)
		changed := v.logged != logged || v.since == n.of
		v.logged = logged
		if n.takeArcs(r, v, next) || changed {
			n.push(v)
		}
	}
	n.there = next
	n.squeeze()
}

// remove takes away a vertex with its arcs.
func (n *Narrowed) remove(v *narrowVertex) {
	for _, a := range v.arcs {
		v.gone = append(v.gone, narrowGone{a.to, a.typ, n.of})
	}
	n.arcs -= len(v.arcs)
	v.arcs, v.entry, v.since, v.logged = nil, 0, n.of, 0
	n.tombstones = append(n.tombstones, narrowTombstone{n.of, v})
	n.push(v)
}

// takeArcs makes a vertex's arcs those that the reader may see now between what is there,
// and tells whether any came, went or has another end.
func (n *Narrowed) takeArcs(r *reader, v *narrowVertex, there map[entryID]*narrowVertex) (changed bool) {
	l, g := n.l, n.l.g
	before := v.arcs
	now := make([]narrowArc, 0, len(before))
	for id := g.nodes.at(l.entries.at(v.entry).node).out; id != 0; id = g.arcs.at(id).nextOut {
		a := g.arcs.at(id)
		how := l.arcNow(v.entry, a)
		if !how.shown || !r.admits(a, how) {
			continue
		}
		next := narrowArc{typ: a.typ, missing: how.missing, id: id, since: n.of}
		if how.missing {
			key := g.keyAt(a.to, how.resource)
			next.to = &key
		} else if to := there[l.entryUnder(a.to, how.resource)]; to != nil {
			next.to = &to.key
		} else {
			continue
		}
		if i := len(now); i < len(before) && next.same(&before[i]) {
			next.to, next.since = before[i].to, before[i].since
		}
		now = append(now, next)
	}
	n.arcs += len(now) - len(before)
	v.arcs = now
	if len(now) == len(before) && !slices.ContainsFunc(now, func(a narrowArc) bool { return a.since == n.of }) {
		return false
	}
	return n.compareArcs(v, before)
}

// same tells whether an arc is one that was there.
func (a *narrowArc) same(b *narrowArc) bool {
	return a.typ == b.typ && a.missing == b.missing && (a.to == b.to || *a.to == *b.to)
}

// compareArcs finds those arcs that were there before in another order, and notes which
// went.
func (n *Narrowed) compareArcs(v *narrowVertex, before []narrowArc) (changed bool) {
	type name struct {
		to  Key
		typ ArcType
	}
	old := make(map[name]*narrowArc, len(before))
	for i := range before {
		old[name{*before[i].to, before[i].typ}] = &before[i]
	}
	for i := range v.arcs {
		a := &v.arcs[i]
		was := old[name{*a.to, a.typ}]
		if was == nil || was.missing != a.missing {
			a.since, changed = n.of, true
		} else {
			a.since = was.since
		}
		delete(old, name{*a.to, a.typ})
	}
	for i := range before {
		a := &before[i]
		if old[name{*a.to, a.typ}] == nil {
			continue
		}
		v.gone = append(v.gone, narrowGone{a.to, a.typ, n.of})
		n.tombstones = append(n.tombstones, narrowTombstone{n.of, v})
		changed = true
	}
	return changed
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

// minNarrowTombstones are kept in any case, and then as many as a quarter of the
// vertices.
const minNarrowTombstones = 256

// forget forgets the oldest tombstones beyond what is to be kept, a revision as a whole.
func (n *Narrowed) forget() {
	excess := len(n.tombstones) - minNarrowTombstones - len(n.there)/4
	if excess <= 0 {
		return
	}
	n.horizon = n.tombstones[excess-1].rev
	done := 0
	for done < len(n.tombstones) && n.tombstones[done].rev <= n.horizon {
		v := n.tombstones[done].vertex
		done++
		v.gone = slices.DeleteFunc(v.gone, func(a narrowGone) bool { return a.rev <= n.horizon })
		if v.entry == 0 && v.since <= n.horizon && n.all[v.key] == v {
			delete(n.all, v.key)
			v.number = 0
		}
	}
	n.tombstones = slices.Delete(n.tombstones, 0, done)
	n.squeeze()
}
