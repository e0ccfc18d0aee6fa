package graph

import "slices"

// narrowLook is what a look at the lens has found.
type narrowLook struct {
	starts   []entryID
	vertices []narrowFound
	there    map[entryID]*narrowVertex
}

// narrowFound is a vertex that was found, and the arcs between what was found that the
// reader may see now.
type narrowFound struct {
	vertex *narrowVertex // a new one is not in Narrowed.all yet
	entry  entryID
	arcs   []narrowArc
}

// look finds what there is now. It changes nothing but what was looked at.
func (n *Narrowed) look(r *reader) (*narrowLook, error) {
	n.visits = 0
	defer func() { n.owed += n.visits }()
	starts, found, err := n.walk(r)
	if err != nil {
		return nil, err
	}
	now := &narrowLook{starts: starts, vertices: make([]narrowFound, len(found)), there: make(map[entryID]*narrowVertex, len(found))}
	for i, e := range found {
		key := n.l.g.key(n.l.entries.at(e).node)
		v := n.all[key]
		if v == nil {
			v = &narrowVertex{key: key}
		}
		now.vertices[i] = narrowFound{vertex: v, entry: e}
		now.there[e] = v
	}
	arcs := 0
	for i := range now.vertices {
		if err := n.lookAtArcs(r, now, &now.vertices[i], &arcs); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// lookAtArcs finds the arcs of a vertex, and counts those of all.
func (n *Narrowed) lookAtArcs(r *reader, now *narrowLook, v *narrowFound, count *int) error {
	l, g := n.l, n.l.g
	v.arcs = make([]narrowArc, 0, len(v.vertex.arcs))
	for id := g.nodes.at(l.entries.at(v.entry).node).out; id != 0; id = g.arcs.at(id).nextOut {
		n.visits++
		a := g.arcs.at(id)
		if how := l.arcNow(v.entry, a); how.shown && r.admits(a, how) {
			if to := n.endOf(now, a, how); to != nil {
				v.arcs = append(v.arcs, narrowArc{to: to, typ: a.typ, missing: how.missing, id: id})
				*count++
			}
		}
		if n.tooMuch(*count) {
			return narrowVisits.Exceed()
		}
	}
	return nil
}

// endOf names the end of an arc, nil if that is there and was not found.
func (n *Narrowed) endOf(now *narrowLook, a *arc, how arcView) *Key {
	if how.missing {
		key := n.l.g.keyAt(a.to, how.resource)
		return &key
	}
	if to := now.there[n.l.entryUnder(a.to, how.resource)]; to != nil {
		return &to.key
	}
	return nil
}

// take makes what was found what is there.
func (n *Narrowed) take(now *narrowLook) {
	l := n.l
	staying := make(map[*narrowVertex]bool, len(now.vertices))
	for _, found := range now.vertices {
		v := found.vertex
		staying[v] = true
		n.all[v.key] = v
		if v.entry == 0 {
			v.since = n.of
		}
	}
	// As in the log of a lens, what went is first.
	for _, v := range n.there {
		if !staying[v] {
			n.remove(v)
		}
	}
	for _, found := range now.vertices {
		v := found.vertex
		v.entry = found.entry
		logged := l.rev(l.entries.at(v.entry).logged)
		changed := v.logged != logged || v.since == n.of
		v.logged = logged
		if n.takeArcs(v, found.arcs) || changed {
			n.push(v)
		}
	}
	n.there = now.there
	n.squeeze()
}

// remove replaces a vertex and each of its arcs by a tombstone.
func (n *Narrowed) remove(v *narrowVertex) {
	for i := range v.arcs {
		n.removeArc(v, &v.arcs[i])
	}
	n.arcs -= len(v.arcs)
	v.arcs, v.entry, v.since, v.logged = nil, 0, n.of, 0
	n.tombstones = append(n.tombstones, narrowTombstone{n.of, v})
	n.push(v)
}

func (n *Narrowed) removeArc(v *narrowVertex, a *narrowArc) {
	v.gone = append(v.gone, narrowGone{a.to, a.typ, n.of})
	n.tombstones = append(n.tombstones, narrowTombstone{n.of, v})
}

// takeArcs replaces a vertex's arcs by the arcs found, and reports whether any came, went or has
// another end.
func (n *Narrowed) takeArcs(v *narrowVertex, now []narrowArc) (changed bool) {
	before := v.arcs
	for i := range now {
		now[i].since = n.of
		if i < len(before) && now[i].same(&before[i]) {
			now[i].to, now[i].since = before[i].to, before[i].since
		}
	}
	n.arcs += len(now) - len(before)
	v.arcs = now
	if len(now) == len(before) && !slices.ContainsFunc(now, func(a narrowArc) bool { return a.since == n.of }) {
		return false
	}
	return n.compareArcs(v, before)
}

// same reports whether an arc was there before.
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
		n.removeArc(v, a)
		changed = true
	}
	return changed
}
