package graph

// narrowLook is the result of a walk.
type narrowLook struct {
	starts []entryID // as in Narrowed
	found  map[entryID]struct{}
	// changed are the entries of vertices that the reader lacks or has in another state.
	changed []entryID
	arcs    int // that the reader may see, with ends that are found or missing
}

// look walks, and compares the result with the graph that the reader has. It only changes the counters
// of visits.
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

// lookAt counts the arcs of a vertex, and reports whether the vertex differs from the reader's copy.
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
		if n.exceedsBound(now.arcs) {
			return false, narrowVisits.Exceed()
		}
	}
	return changed || arcs != len(v.arcs), nil
}

// endOf returns the entry at the end of an arc, 0 if the target is missing, and whether the reader may
// see the arc.
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

// walk finds the roots, and the vertices that lead from them as far as the reader may see them. The
// entries are in found in the order in which the walk reached them.
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
				if n.exceedsBound(led) {
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
				if n.exceedsBound(led) {
					return nil, nil, narrowVisits.Exceed()
				}
			}
		}
	}
	return found, now, nil
}

// exceedsBound reports whether a walk exceeds its bound after it has followed led arcs. Arcs that the
// reader may not see count only if they are very many: otherwise the reader could find out their
// number by adding objects until the walk exceeds the bound.
func (n *Narrowed) exceedsBound(led int) bool { return led > n.most || n.visits > 4*n.most }

// arcLeads returns the entry that an arc of a visible entry leads to, 0 if the walk does not follow
// the arc's type or the reader may not see the arc.
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

// isShown reports whether the lens shows an entry and the reader may see it.
func (n *Narrowed) isShown(e entryID, r *reader) bool {
	p := n.l.entries.at(e)
	return p.flags&shown != 0 && r.allowed(n.l.g.key(p.node))
}

// fewVisits is the number of visits that are always worth a try to avoid a walk.
const fewVisits = 256

// concerned reports whether the changes that the lens logged since the last walk may change the result
// of the walk. It also returns true if finding out costs more visits than another walk.
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
