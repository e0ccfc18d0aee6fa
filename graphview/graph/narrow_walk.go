package graph

// walk finds the roots, and what they lead to, among what the reader may see.
func (n *Narrowed) walk(r *reader) (starts, found []entryID, err error) {
	l, g := n.l, n.l.g
	starts = make([]entryID, len(n.roots))
	seen := make(map[entryID]struct{})
	reach := func(e entryID) {
		if _, ok := seen[e]; !ok {
			seen[e] = struct{}{}
			found = append(found, e)
		}
	}
	for i, key := range n.roots {
		if starts[i] = n.start(key, r); starts[i] != 0 {
			reach(starts[i])
		}
	}
	n.visits = len(n.roots)
	led := 0 // arcs that the reader may see
	for depth, done := 0, 0; done < len(found) && (n.depth == 0 || depth < n.depth); depth++ {
		for last := len(found); done < last; done++ {
			e := found[done]
			from := g.nodes.at(l.entries.at(e).node)
			for id := from.out; id != 0; {
				a := g.arcs.at(id)
				id = a.nextOut
				n.visits++
				if other := n.arcLeads(r, e, a, n.along); other != 0 {
					reach(other)
					led++
				}
				if n.tooMuch(led) {
					return nil, nil, narrowVisits.Exceed()
				}
			}
			for id := g.slots.at(from.slot).in; id != 0; {
				a := g.arcs.at(id)
				id = a.nextIn
				n.visits++
				if other := l.index.at(a.from); other != 0 && n.isShown(other, r) && n.arcLeads(r, other, a, n.against) == e {
					reach(other)
					led++
				}
				if n.tooMuch(led) {
					return nil, nil, narrowVisits.Exceed()
				}
			}
		}
	}
	return starts, found, nil
}

// tooMuch reports whether to look at so many arcs that the reader may see exceeds the bound of a
// walk, or of what it has found. Others count only where they are very many: the reader could
// count them by what it adds.
func (n *Narrowed) tooMuch(led int) bool { return led > n.most || n.visits > 4*n.most }

// arcLeads is the entry that an arc of a visible entry leads to, 0 if the arc is of no
// type to follow or the reader may not see it.
func (n *Narrowed) arcLeads(r *reader, from entryID, a *arc, follow ways) entryID {
	if !follow[a.typ] {
		return 0
	}
	how := n.l.arcNow(from, a)
	if !how.shown || how.missing || !r.admits(a, how) {
		return 0
	}
	return n.l.entryUnder(a.to, how.resource)
}

// isShown reports whether the reader may see an entry.
func (n *Narrowed) isShown(e entryID, r *reader) bool {
	p := n.l.entries.at(e)
	return p.flags&shown != 0 && r.allowed(n.l.g.key(p.node))
}

// start is the entry of a root, 0 if the reader may not see it or it is not there: which
// of them it is takes the same time.
func (n *Narrowed) start(key Key, r *reader) entryID {
	l, g := n.l, n.l.g
	for id := range l.sources {
		src := g.sources[id]
		if src == nil || l.used(src.kind) != src.resource {
			continue
		}
		of := g.resources.at(src.resource)
		if of.Group != key.Group || of.Resource != key.Resource.Resource || key.Version != "" && key.Version != of.Version {
			continue
		}
		if scope := g.scopes[src.kind]; scope != ScopeUnknown && (scope == ScopeNamespaced) != (key.Namespace != "") || !r.allowed(Key{Resource: of, Namespace: key.Namespace}) {
			return 0
		}
		at, _ := g.findSlot(src.kind, g.spaces.find(key.Namespace), key.Name)
		if at == 0 {
			return 0
		}
		if e := l.entryUnder(at, src.resource); e != 0 && l.entries.at(e).flags&shown != 0 {
			return e
		}
		return 0
	}
	return 0
}

// concerned reports whether what the lens has logged since the last walk may make a difference to
// it. Where that is not cheaper to tell than to walk again, it may.
func (n *Narrowed) concerned(r *reader) bool {
	l, g := n.l, n.l.g
	if l.tombstones.horizon > n.of {
		return true // an entry that was of this graph may be another one's by now
	}
	for i, e := range n.starts {
		if e == 0 && n.start(n.roots[i], r) != 0 {
			return true
		}
	}
	elements := l.log.elements[l.log.after(l.stamp(n.of)):]
	looked := len(elements)
	defer func() { n.owed += looked }()
	for _, el := range elements {
		p := l.entries.at(el.entry)
		if looked > n.visits+minNarrowTombstones {
			return true
		}
		switch {
		case p.logged != el.number:
			continue
		case n.there[el.entry] != nil:
			return true
		case p.flags&shown == 0:
			continue
		}
		for id := g.nodes.at(p.node).out; id != 0; {
			a := g.arcs.at(id)
			id = a.nextOut
			if looked++; looked > n.visits+minNarrowTombstones {
				return true
			}
			if n.against[a.typ] && n.there[l.entryAt(a.to)] != nil {
				return true
			}
		}
	}
	return false
}
