package graph

// repair updates which entries are reached from roots. It visits the entries and arcs that changed and
// the subtrees that lost their support, never the whole lens.
func (l *Lens) repair() {
	changes := l.g.lacked.changes
	l.visit(2 * (len(changes) + len(l.dirty)))
	var cut []entryID
	sever := func(e entryID) {
		p := l.entries.at(e)
		if p.flags&reached != 0 {
			p.flags &^= reached
			p.support = 0
			l.mark(e)
			cut = append(cut, e)
		}
	}

	// Cut entries that are no longer vertices or roots, or that lost the arc that supported them.
	for _, e := range l.dirty {
		p := l.entries.at(e)
		if p.flags&reached != 0 && (!l.active(p) || p.support == byRoot && p.flags&root == 0) {
			sever(e)
		}
	}
	for i := range changes {
		c := &changes[i]
		from, to := l.index.at(c.from), l.entryAt(c.to)
		if from == 0 || to == 0 {
			continue
		}
		if l.entries.at(to).support == from && (!l.leads(c.id, to) || !l.along[c.typ]) {
			sever(to)
		}
		if l.entries.at(from).support == to && (!l.leads(c.id, to) || !l.against[c.typ]) {
			sever(from)
		}
	}
	// Then cut the entries that they supported, and so on: cut grows in the loop. An entry that
	// another arc still reaches is found again below.
	done := 0
	for len(cut) > done {
		e := cut[done]
		done++
		l.visitArcs(e, func(_ *arc, other entryID, _ bool) {
			if l.entries.at(other).support == e {
				sever(other)
			}
		})
	}

	// Seeds are roots and entries with a reached neighbour. All cut entries are in l.dirty. The
	// entries that seed adds to it need no search, since they are reached.
	without := l.g.searched[:0]
	seed := func(e entryID) {
		if !l.seed(e) {
			without = append(without, e)
		}
	}
	for _, e := range l.dirty {
		seed(e)
	}
	for i := range changes {
		c := &changes[i]
		from, to := l.index.at(c.from), l.entryAt(c.to)
		if from != 0 && to != 0 && l.leads(c.id, to) {
			seed(to)
			seed(from)
		}
	}
	l.spread()
	for _, e := range without {
		l.entries.at(e).flags &^= searched
	}
	l.g.searched = without
}

// recomputeReached computes all reached entries again, from the roots.
func (l *Lens) recomputeReached() {
	l.visit(int(l.entries.next))
	for p, e := range l.all {
		p.flags &^= reached
		p.support = 0
		l.mark(e)
	}
	l.near = l.near[:0]
	switch {
	case !l.rooted:
		return
	case l.depth > 0:
		l.rewalk()
		return
	}
	for p, e := range l.all {
		if p.flags&root != 0 && l.active(p) {
			l.reach(e, byRoot)
		}
	}
	l.spread()
}

// seed reaches an entry that is a root or has a reached neighbour. It returns false if it found no
// such neighbour and marked the entry as searched. A searched entry is not searched again for each of
// its changed arcs: if one of its neighbours is reached later, spread finds the entry.
func (l *Lens) seed(e entryID) bool {
	p := l.entries.at(e)
	if p.flags&(reached|searched) != 0 || !l.active(p) {
		return true
	}
	if p.flags&root != 0 {
		l.reach(e, byRoot)
	} else if s := l.support(e); s != 0 {
		l.reach(e, s)
	} else {
		p.flags |= searched
		return false
	}
	return true
}

func (l *Lens) reach(e, support entryID) {
	p := l.entries.at(e)
	p.flags |= reached
	p.support = support
	l.mark(e)
	l.queue = append(l.queue, e)
}

// spread reaches all entries that the queue leads to.
func (l *Lens) spread() {
	for len(l.queue) > 0 {
		e := l.queue[len(l.queue)-1]
		l.queue = l.queue[:len(l.queue)-1]
		l.visitArcs(e, func(a *arc, other entryID, forward bool) {
			p := l.entries.at(other)
			if p.flags&reached == 0 && l.active(p) && l.follows(a, e, other, forward) {
				l.reach(other, e)
			}
		})
	}
}

// entryAt returns the entry of the object with a name in this view, 0 if there is none.
func (l *Lens) entryAt(at slotID) entryID {
	return l.entryUnder(at, l.used(l.g.slots.at(at).kind))
}

// entryUnder returns the entry of the object under one resource, 0 if there is none.
func (l *Lens) entryUnder(at slotID, r resID) entryID {
	if r == 0 {
		return 0
	}
	n := l.g.nodeAt(at, r)
	if n == 0 {
		return 0
	}
	return l.index.at(n)
}

// visitArcs visits the arcs of an entry's node to and from other entries.
func (l *Lens) visitArcs(e entryID, visit func(a *arc, other entryID, forward bool)) {
	n := l.g.nodes.at(l.entries.at(e).node)
	l.visit(1)
	for id := n.out; id != 0; {
		l.visit(1)
		a := l.g.arcs.at(id)
		id = a.nextOut
		if other := l.entryAt(a.to); other != 0 {
			visit(a, other, true)
		}
	}
	if l.used(n.kind) != n.resource {
		return
	}
	for id := l.g.slots.at(n.slot).in; id != 0; {
		l.visit(1)
		a := l.g.arcs.at(id)
		id = a.nextIn
		if other := l.index.at(a.from); other != 0 {
			visit(a, other, false)
		}
	}
}

// leads reports whether the arc exists and ends at the object of entry to, not at another one of
// its name.
func (l *Lens) leads(id arcID, to entryID) bool {
	a := l.g.arcs.at(id)
	return a.flags&removed == 0 && l.ends(a, to)
}

// ends reports whether the view follows the arc to the object of entry to.
func (l *Lens) ends(a *arc, to entryID) bool {
	return (a.uid() == 0 || a.uid() == l.g.nodes.at(l.entries.at(to).node).uid) && l.audienceNow(a.flags, a.to) != 0
}

// support returns a reached neighbour from which the walk reaches e, 0 if there is none.
func (l *Lens) support(e entryID) entryID {
	var found entryID
	l.visitArcs(e, func(a *arc, other entryID, forward bool) {
		if found == 0 && l.entries.at(other).flags&reached != 0 && l.follows(a, other, e, !forward) {
			found = other
		}
	})
	return found
}
