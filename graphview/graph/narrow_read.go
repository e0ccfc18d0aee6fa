package graph

import "sort"

// Read is Lens.Read for the narrowed graph. The walk does not go along arcs that the reader leaves
// out. Complete reports whether how.Allow could answer every time: where it could not, nothing is
// told and the reader has to come again. The error may also be an *budget.Exceeded: there is too
// much to look at.
func (n *Narrowed) Read(pos *Position, limit int, how Reading, complete func() bool, emit func(Change) bool) (bool, error) {
	r := n.l.reader(how, emit)
	if err := n.l.rlockFor(how); err != nil {
		return false, err
	}
	defer n.l.g.mu.RUnlock()
	if n.l.closed {
		return false, ErrGone
	}
	if ok, err := n.refresh(&r, complete); !ok {
		return false, err
	}
	if pos.from == 0 {
		pos.from = n.of
		pos.next = n.numberAt(pos.Known)
	}
	r.known, r.told = pos.Known, pos.Known
	if r.told == 0 {
		r.told = pos.from
	}
	if r.told < n.horizon || pos.Known > n.of {
		return false, ErrGone
	}
	first := sort.Search(len(n.log), func(i int) bool { return n.log[i].number > pos.next })
	for i, el := range n.log[first:] {
		if i == limit || r.enough {
			return false, nil
		}
		pos.next = el.number
		if el.vertex.number == el.number {
			n.readVertex(&r, el.vertex)
		}
	}
	*pos = Position{Known: n.of}
	return true, nil
}

// numberAt is the number in the log up to which a reader of a revision has come.
func (n *Narrowed) numberAt(known uint64) uint64 {
	i := sort.Search(len(n.log), func(i int) bool { return n.log[i].rev > known })
	if i == len(n.log) {
		return n.next
	}
	return n.log[i].number - 1
}

func (n *Narrowed) readVertex(r *reader, v *narrowVertex) {
	if v.entry == 0 {
		if v.since > r.told {
			n.readGone(r, v)
			// The vertex may well be in the graph that this is a part of.
			r.emit(Change{Op: DeleteVertex, Vertex: v.key})
		}
		return
	}
	r.readVertex(v.entry, v.key, v.since)
	n.readGone(r, v)
	for i := range v.arcs {
		a := &v.arcs[i]
		r.readArcSince(v.entry, v.key, n.l.g.arcs.at(a.id), a.since)
	}
}

// readGone emits the deletion of arcs of a vertex that have not come back.
func (n *Narrowed) readGone(r *reader, v *narrowVertex) {
	if len(v.gone) == 0 {
		return
	}
	type name struct {
		to  Key
		typ ArcType
	}
	done := make(map[name]bool, len(v.arcs)+len(v.gone))
	for i := range v.arcs {
		done[name{*v.arcs[i].to, v.arcs[i].typ}] = true
	}
	for _, a := range v.gone {
		if a.rev <= r.told || done[name{*a.to, a.typ}] {
			continue
		}
		done[name{*a.to, a.typ}] = true
		r.emit(Change{Op: DeleteArc, Vertex: v.key, To: *a.to, Type: a.typ})
	}
}
