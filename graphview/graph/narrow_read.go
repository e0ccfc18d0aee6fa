package graph

// Read emits at most limit vertices that differ from the reader's copies, with their arcs, and
// moves the position. Emitted changes count as sent. Like Lens.Read, it returns true when the
// reader has the whole part as of pos.Known. The walk does not pass arcs that the reader leaves
// out. complete reports whether how.Allow could answer every time: if it could not, nothing is
// emitted, and the reader reads again once the rights are known.
//
// ErrClosed: the lens is closed. ErrGone: pos is neither the zero Position nor the head of the lens at the
// first Read. The error may also be a *budget.Exceeded: the part is too large.
func (n *Narrowed) Read(pos *Position, limit int, how Reading, complete func() bool, emit func(Change) bool) (bool, error) {
	r := n.l.reader(how, emit)
	if err := n.l.rlockFor(how); err != nil {
		return false, err
	}
	defer n.l.g.mu.RUnlock()
	if n.l.closed {
		return false, ErrClosed
	}
	first := n.of == 0
	if ok, err := n.refresh(&r, complete); !ok {
		return false, err
	}
	if first && pos.Known != 0 {
		if pos.Known != n.of {
			return false, ErrGone
		}
		has := n.l.reader(how, func(Change) bool { return true })
		for len(n.pending) > 0 {
			n.send(&has)
		}
	}
	for sent := 0; len(n.pending) > 0; sent++ {
		if sent == limit || r.enough {
			pos.from = n.of
			return false, nil
		}
		pos.next++ // so that the position differs from the last one
		n.send(&r)
	}
	n.pending = nil
	*pos = Position{Known: n.of}
	return true, nil
}

// send sends the first pending vertex.
func (n *Narrowed) send(r *reader) {
	v := n.pending[0]
	n.pending = n.pending[1:]
	v.pending = false
	if v.entry == 0 {
		n.sendDeletion(r, v)
		return
	}
	r.known = v.sent
	r.readVertex(v.entry, v.key)
	n.sendArcs(r, v)
	v.sent = n.of
}

// sendDeletion deletes a vertex that left the part, and its arcs. They may still be in the lens.
func (n *Narrowed) sendDeletion(r *reader, v *narrowVertex) {
	for i := range v.arcs {
		r.emit(Change{Op: DeleteArc, Vertex: v.key, To: *v.arcs[i].to, Type: v.arcs[i].typ})
	}
	r.emit(Change{Op: DeleteVertex, Vertex: v.key})
	n.sentArcs -= len(v.arcs)
	delete(n.leaving, v.key)
}

// sendArcs emits the difference between the arcs of a vertex and the reader's copy of them.
func (n *Narrowed) sendArcs(r *reader, v *narrowVertex) {
	before := v.arcs
	now, same := n.arcsOf(r, v)
	if !same {
		for end := range compareArcs(before, now) {
			r.emit(Change{Op: DeleteArc, Vertex: v.key, To: end.to, Type: end.typ})
		}
	}
	for i := range now {
		least := uint64(0)
		if now[i].fresh {
			least = n.of
		}
		r.readArcSince(v.entry, v.key, n.l.g.arcs.at(now[i].id), least)
	}
	n.sentArcs += len(now) - len(before)
	v.arcs = now
}

// arcsOf returns the arcs of a vertex, and whether the reader has the same ones, in the same
// order.
func (n *Narrowed) arcsOf(r *reader, v *narrowVertex) (arcs []narrowArc, same bool) {
	l, g := n.l, n.l.g
	arcs, same = make([]narrowArc, 0, len(v.arcs)), true
	for id := g.nodes.at(l.entries.at(v.entry).node).out; id != 0; id = g.arcs.at(id).nextOut {
		a := g.arcs.at(id)
		how, end, ok := n.endOf(r, v.entry, a)
		target := n.vertices[end]
		if !ok || !how.missing && target == nil {
			continue
		}
		arc := narrowArc{id: id, typ: a.typ, missing: how.missing}
		switch i := len(arcs); {
		case i < len(v.arcs) && n.same(&v.arcs[i], a, how, end):
			arc.to = v.arcs[i].to
		case how.missing:
			key := g.keyAt(a.to, how.resource)
			arc.to, same = &key, false
		default:
			arc.to, same = &target.key, false
		}
		arcs = append(arcs, arc)
	}
	return arcs, same && len(arcs) == len(v.arcs)
}

// arcEnd identifies an arc among those of a vertex.
type arcEnd struct {
	to  Key
	typ ArcType
}

// compareArcs marks the new arcs, and returns the removed ones.
func compareArcs(before, now []narrowArc) map[arcEnd]*narrowArc {
	gone := make(map[arcEnd]*narrowArc, len(before))
	for i := range before {
		gone[arcEnd{*before[i].to, before[i].typ}] = &before[i]
	}
	for i := range now {
		a := &now[i]
		end := arcEnd{*a.to, a.typ}
		was := gone[end]
		// If was.to differs, the vertex was deleted and another one of the same name was set since.
		a.fresh = was == nil || was.missing != a.missing || !a.missing && was.to != a.to
		delete(gone, end)
	}
	return gone
}
