package graph

import (
	"slices"

	"graphview.dev/graphview/budget"
)

// narrowVisits bounds the size of a narrowed graph, and so the time for which one walk of a reader
// holds the graph's lock.
var narrowVisits = budget.Declare("narrowed_graph_visits", "references of one narrowed graph, those included that lead twice to the same object", 50_000)

// Narrowing selects a part of the graph of a lens.
type Narrowing struct {
	// Roots are names of objects. A name without a version means the version that the view
	// watches.
	Roots []Key
	// Walk leads from the roots to the other vertices of the part. Its direction must not be Forward.
	Walk Walk
}

// Narrowed is the part of a lens that a walk from some roots finds, for one reader. The walk
// passes only through vertices that the reader may see, so that the part reveals nothing about
// hidden ones. Each Read sends the difference between the graph that the reader has and the
// newest walk, and walks again only if the lens changed near the part. The lens does no work for
// it. One goroutine at a time may use it.
type Narrowed struct {
	l              *Lens
	roots          []Key
	along, against ways
	depth          int
	most           int // narrowVisits, except in tests

	// of is a revision of the lens for which the last walk is valid: that of the walk, or a later
	// revision without a change to the result. 0: there was no walk.
	of uint64
	// starts are the entries of the roots, 0 for missing ones.
	starts []entryID
	// vertices are the result of the last walk.
	vertices map[entryID]*narrowVertex
	// leaving are the vertices that the reader has and the last walk did not find.
	leaving map[Key]*narrowVertex
	// pending are the vertices that may have to be sent, in this order, so that a vertex that changes
	// all the time does not delay the others.
	pending []*narrowVertex
	// arcs counts the arcs of the last walk, sentArcs the arcs that the reader has.
	arcs, sentArcs int
	// visits counts the last walk, owed the visits since Owed was called.
	visits, owed int
}

// narrowVertex is a vertex that the last walk found or that the reader has.
type narrowVertex struct {
	key     Key
	entry   entryID // 0: the last walk did not find it
	sent    uint64  // the revision that the reader has; 0: none
	pending bool
	arcs    []narrowArc // that the reader has
}

// narrowArc is an arc that the reader has or is about to receive.
type narrowArc struct {
	to      *Key
	id      arcID // valid only while it is being sent
	typ     ArcType
	missing bool
	fresh   bool // the reader lacks it, or has it with another target
}

// Narrow returns the part of the lens that n selects. The first Read walks.
func (l *Lens) Narrow(n Narrowing) *Narrowed {
	part := &Narrowed{
		l: l, roots: n.Roots, depth: max(0, n.Walk.Depth), most: int(narrowVisits.Limit()),
		starts: make([]entryID, len(n.Roots)), vertices: make(map[entryID]*narrowVertex), leaving: make(map[Key]*narrowVertex),
	}
	part.along, part.against = n.Walk.ways()
	return part
}

// Size returns the number of vertices and arcs in memory.
func (n *Narrowed) Size() int { return len(n.vertices) + len(n.leaving) + max(n.arcs, n.sentArcs) }

// Owed returns the number of visits since it was last called.
func (n *Narrowed) Owed() int {
	owed := n.owed
	n.owed = 0
	return owed
}

// Absent returns the roots that do not exist in the lens or that the reader may not see.
func (n *Narrowed) Absent() []Key {
	var absent []Key
	for i, e := range n.starts {
		if e == 0 {
			absent = append(absent, n.roots[i])
		}
	}
	return absent
}

// refresh walks if the lens may have changed near the part. It returns false, and leaves the part as
// it was, if a right is unknown.
func (n *Narrowed) refresh(r *reader, complete func() bool) (bool, error) {
	l := n.l
	if n.of == l.head && n.of != 0 {
		return true, nil
	}
	if n.of != 0 && !n.concerned(r) && complete() {
		n.of = l.head
		return true, nil
	}
	if l.tombstones.horizon > n.of {
		n.leaveReused()
	}
	now, err := n.look(r)
	if err != nil {
		return false, err
	}
	if !complete() {
		return false, nil
	}
	n.of = l.head
	n.adopt(now)
	return true, nil
}

// leaveReused removes the vertices whose entries were freed and may belong to other objects.
func (n *Narrowed) leaveReused() {
	for e, v := range n.vertices {
		if node := n.l.entries.at(e).node; node == 0 || n.l.g.key(node) != v.key {
			n.leave(e, v)
		}
	}
}

// adopt replaces the result of the last walk.
func (n *Narrowed) adopt(now *narrowLook) {
	// Deletions are sent first, as a lens sends them.
	for e, v := range n.vertices {
		if _, ok := now.found[e]; !ok {
			n.leave(e, v)
		}
	}
	n.pending = slices.DeleteFunc(n.pending, func(v *narrowVertex) bool { return v.entry == 0 && v.sent == 0 })
	for _, e := range now.changed {
		n.enqueue(n.vertexOf(e))
	}
	n.starts, n.arcs = now.starts, now.arcs
}

// leave removes a vertex that the walk did not find. If the reader has it, its deletion is sent.
func (n *Narrowed) leave(e entryID, v *narrowVertex) {
	delete(n.vertices, e)
	v.entry = 0
	if v.sent != 0 {
		n.leaving[v.key] = v
		n.enqueue(v)
	}
}

// vertexOf returns the vertex of a found entry. It reuses a vertex that the reader still has.
func (n *Narrowed) vertexOf(e entryID) *narrowVertex {
	if v := n.vertices[e]; v != nil {
		return v
	}
	key := n.l.g.key(n.l.entries.at(e).node)
	v := n.leaving[key]
	if v == nil {
		v = &narrowVertex{key: key}
	}
	delete(n.leaving, key)
	v.entry = e
	n.vertices[e] = v
	return v
}

func (n *Narrowed) enqueue(v *narrowVertex) {
	if !v.pending {
		v.pending = true
		n.pending = append(n.pending, v)
	}
}
