package graph

// narrowLook is the result of a walk.
type narrowLook struct {
	starts []entryID // as in Narrowed
	found  map[entryID]struct{}
	// changed are the entries of vertices that the reader has not, or has in another state.
	changed []entryID
	arcs    int // that the reader may see and whose ends were found or are missing
}

// look walks, and compares the result with the graph that the reader has. It only changes the
// counts of visits.
func (n *Narrowed) look(r *reader) (*narrowLook, error) {
	n.visits = 0
	defer func() { n.owed += n.visits }()
	order, now, err := n.walk(r)
	if err != nil {
		return nil, err
	}
	for _, e := range order {
		changed, err := n.lookAt(r, now, e)
		if err != nil {
			return nil, err
		}
		if changed {
			now.changed = append(now.changed, e)
		}
	}
	return now, nil
}

// lookAt counts the arcs of a vertex, and reports whether the vertex differs from the reader's.
func (n *Narrowed) lookAt(r *reader, now *narrowLook, e entryID) (changed bool, err error) {
	l, g := n.l, n.l.g
	p, v := l.entries.at(e), n.vertices[e]
	changed = v == nil || v.sent == 0 || l.rev(p.logged) > v.sent
	arcs := 0
	for id := g.nodes.at(p.node).out; id != 0; {
		n.visits++
		a := g.arcs.at(id)
		id = a.nextOut
		how, end, ok := n.endOf(r, e, a)
		if ok && !how.missing {
			_, ok = now.found[end]
		}
		if ok {
			changed = changed || arcs == len(v.arcs) || !n.same(&v.arcs[arcs], a, how, end)
			arcs++
			now.arcs++
		}
		if n.tooMuch(now.arcs) {
			return false, narrowVisits.Exceed()
		}
	}
	return changed || arcs != len(v.arcs), nil
}

// endOf returns the entry that an arc of a vertex leads to, 0 if that is missing, and whether the
// reader may see the arc.
func (n *Narrowed) endOf(r *reader, from entryID, a *arc) (how arcView, end entryID, ok bool) {
	if how = n.l.arcNow(from, a); !how.shown || !r.admits(a, how) {
		return how, 0, false
	}
	if !how.missing {
		end = n.l.entryUnder(a.to, how.resource)
	}
	return how, end, true
}

// same reports whether the reader has an arc with the same end.
func (n *Narrowed) same(has *narrowArc, a *arc, how arcView, end entryID) bool {
	if has.typ != a.typ || has.missing != how.missing {
		return false
	}
	if how.missing {
		return *has.to == n.l.g.keyAt(a.to, how.resource)
	}
	v := n.vertices[end]
	return v != nil && has.to == &v.key
}

// walk finds the roots and the vertices that they lead to, as far as the reader may see them.
// Found has them in the order in which they were found.
func (n *Narrowed) walk(r *reader) (found []entryID, now *narrowLook, err error) {
	l, g := n.l, n.l.g
	now = &narrowLook{starts: make([]entryID, len(n.roots)), found: make(map[entryID]struct{}, len(n.vertices))}
	found = make([]entryID, 0, len(n.vertices))
	reach := func(e entryID) {
		if _, ok := now.found[e]; !ok {
			now.found[e] = struct{}{}
			found = append(found, e)
		}
	}
	for i, key := range n.roots {
		if now.starts[i] = r.find(key); now.starts[i] != 0 {
			reach(now.starts[i])
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
	return found, now, nil
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

// fewVisits are cheap enough to try to avoid any walk.
const fewVisits = 256

// concerned reports whether what the lens has logged since the last walk may make a difference to
// it. Where that is not cheaper to tell than to walk again, it may.
func (n *Narrowed) concerned(r *reader) bool {
	l, g := n.l, n.l.g
	if l.tombstones.horizon > n.of {
		return true // entries of the part may have been reused
	}
	for i, e := range n.starts {
		if e == 0 && r.find(n.roots[i]) != 0 {
			return true
		}
	}
	elements := l.log.elements[l.log.after(l.stamp(n.of)):]
	looked := len(elements)
	defer func() { n.owed += looked }()
	for _, el := range elements {
		p := l.entries.at(el.entry)
		if looked > n.visits+fewVisits {
			return true
		}
		switch {
		case p.logged != el.number:
			continue
		case n.vertices[el.entry] != nil:
			return true
		case p.flags&shown == 0:
			continue
		}
		for id := g.nodes.at(p.node).out; id != 0; {
			a := g.arcs.at(id)
			id = a.nextOut
			if looked++; looked > n.visits+fewVisits {
				return true
			}
			if n.against[a.typ] && n.vertices[l.entryAt(a.to)] != nil {
				return true
			}
		}
	}
	return false
}
