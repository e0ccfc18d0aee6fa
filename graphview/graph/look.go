package graph

// Look returns one visible vertex, and the arcs that start and end there, at most limit of each. A key
// without a version means the version that the view watches. ok is false if there is no such vertex or
// the reader may not see it. An arc whose other end is hidden is left out.
func (l *Lens) Look(key Key, limit int, how Reading) (v Vicinity, ok bool) {
	g := l.g
	l.rlock()
	defer g.mu.RUnlock()
	r := l.reader(how, nil)
	e := r.find(key)
	if e == 0 {
		return v, false
	}
	p := l.entries.at(e)
	at := g.key(p.node)
	v.Vertex = Change{
		Op: SetVertex, Vertex: at, Payload: g.nodes.at(p.node).payload, Part: l.parts[e].content, Node: NodeID(p.node),
		Root: p.flags&root != 0, Appeared: true, Logged: l.rev(p.logged), Hash: g.nodes.at(p.node).hash,
	}
	take := func(list *[]Change) func(Change) bool {
		return func(c Change) bool {
			if len(*list) == limit {
				v.More = true
				return false
			}
			*list = append(*list, c)
			return true
		}
	}
	r.take = take(&v.Out)
	for id := g.nodes.at(p.node).out; id != 0 && !r.enough; id = g.arcs.at(id).nextOut {
		r.readArc(e, at, g.arcs.at(id))
	}
	r.take, r.enough = take(&v.In), false
	for id := g.slots.at(g.nodes.at(p.node).slot).in; id != 0 && !r.enough; id = g.arcs.at(id).nextIn {
		a := g.arcs.at(id)
		from := l.index.at(a.from)
		if from == 0 || l.entries.at(from).flags&shown == 0 {
			continue
		}
		if start := g.key(a.from); r.allowed(start) && l.arcNow(from, a).resource == g.nodes.at(p.node).resource {
			r.readArc(from, start, a)
		}
	}
	v.Unseen = r.unseen(p.node)
	return v, true
}

// find returns the entry of a visible vertex, 0 if it does not exist or the reader may not see it. It
// checks the right first, so its time does not reveal to a reader without the right whether the object
// exists. A key without a version means the version that the view watches.
func (r *reader) find(key Key) entryID {
	l, g := r.l, r.l.g
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

// mostUnseen bounds the arcs that unseen visits.
const mostUnseen = 10_000

// unseen counts the objects with an arc to the node that the reader may see and the lens does not show. A
// count of others would tell who refers to an object where the reader may not look. Arcs that only inferred
// references or labels of namespaces make do not count.
func (r *reader) unseen(node nodeID) (count int) {
	l, g := r.l, r.l.g
	seen := map[slotID]bool{} // an object has a node for each version, and a view shows one of them
	looked := 0
	for id := g.slots.at(g.nodes.at(node).slot).in; id != 0 && looked < mostUnseen; id = g.arcs.at(id).nextIn {
		looked++
		a := g.arcs.at(id)
		if a.flags&(named|selected) == 0 || a.from == node || !r.allowed(g.key(a.from)) {
			continue
		}
		e, at := l.index.at(a.from), g.nodes.at(a.from).slot
		seen[at] = seen[at] || e != 0 && l.entries.at(e).flags&shown != 0
	}
	for _, here := range seen {
		if !here {
			count++
		}
	}
	return count
}

// Vicinity is a vertex with its arcs.
type Vicinity struct {
	Vertex  Change
	Out, In []Change
	// More reports whether there are more arcs than the limit.
	More bool
	// Unseen counts the objects that refer to the vertex, or are owned by it, that the reader may see and
	// the lens does not show.
	Unseen int
}
