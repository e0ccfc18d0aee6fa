package graph

import "slices"

// Notable selects the vertices of a reader that looks for problems and reads the graph once: each with its arcs, and its
// controllers with their arcs to each other. The reader gets no other vertex.
type Notable struct {
	// Classes has true for each class whose objects are notable. An object whose class will change by itself is notable
	// too.
	Classes [Classes]bool
	// Kinds reports whether all objects of a kind are notable. Nil: of none.
	Kinds func(Kind) bool
	// Namespaces are the namespaces whose objects are all notable.
	Namespaces map[string]bool

	// Passed is the number of vertices that the reader may see and does not get. A vertex that changes during the walk may count
	// twice.
	Passed int
}

// notable reports whether a reader gets a visible entry. An entry that changed after the walk began is notable, since the
// reader may have got it before.
func (r *reader) notable(e entryID, key Key) bool {
	p := r.l.entries.at(e)
	n := r.l.g.nodes.at(p.node)
	return r.known != 0 || r.notableByItself(p, n) || r.how.Only.hasAll(key.Namespace, r.l.g.kinds.at(n.kind)) || r.lacks(e, n)
}

// hasAll reports whether all objects of a kind in a namespace are notable.
func (only *Notable) hasAll(namespace string, k Kind) bool {
	return only.Namespaces[namespace] || only.Kinds != nil && only.Kinds(k)
}

// notableByItself reports whether an entry is notable whatever its arcs and its place are.
func (r *reader) notableByItself(p *entry, n *node) bool {
	return r.how.Only.Classes[p.class] || n.lapses || r.l.rev(p.logged) > r.began
}

// passes reports whether a visible entry is not notable, or the reader may not see it, and counts it. It visits no arc, so it
// leaves entries with selectors to notable.
func (r *reader) passes(p *entry) bool {
	only, l := r.how.Only, r.l
	n := l.g.nodes.at(p.node)
	if r.known != 0 || p.flags&shown == 0 || r.notableByItself(p, n) || p.lacking > 0 || n.holder != nil {
		return false
	}
	if at := (place{n.kind, n.resource, l.g.slots.at(n.slot).space}); at != r.place {
		key := l.g.key(p.node)
		r.place, r.hidden = at, !r.allowed(key)
		r.whole = only.hasAll(key.Namespace, l.g.kinds.at(n.kind))
	}
	switch {
	case r.hidden:
	case r.whole:
		return false
	default:
		only.Passed++
	}
	r.passed++
	return true
}

// place is where objects are. A reader may see all of them or none, and by their place all are notable or none.
type place struct {
	kind     kindID
	resource resID
	space    spaceID
}

// lacking reports whether a needed target of an arc with these flags exists nowhere.
func (how *arcView) lacking(a *arc, flags uint16) bool {
	return how.shown && how.missing && how.outside == Nowhere && (a.typ == OwnerReference || flags&required != 0)
}

// lacks reports whether a node refers to an object that is required and absent, or has a selector that selects no object
// of its kind. It visits no more arcs than that takes.
func (r *reader) lacks(e entryID, n *node) bool {
	l, g := r.l, r.l.g
	var unmatched []kindID
	for _, s := range n.held() {
		if !slices.Contains(unmatched, s.kind) {
			unmatched = append(unmatched, s.kind)
		}
	}
	byName := int(n.names)
	for id := n.out; id != 0 && (byName > 0 || len(unmatched) > 0); id = g.arcs.at(id).nextOut {
		a := g.arcs.at(id)
		if a.flags&naming != 0 {
			byName--
		}
		switch how := l.arcNow(e, a); {
		case !how.shown || !r.admits(a, how):
		case !how.missing:
			kind := g.slots.at(a.to).kind
			unmatched = slices.DeleteFunc(unmatched, func(k kindID) bool { return k == kind })
		case how.lacking(a, a.flags):
			return true
		}
	}
	return len(unmatched) > 0
}

// maxControllers bounds the controllers above one object.
const maxControllers = 8

// readControllers emits the controller of an entry, the controller of that, and so on, with the arcs between them.
func (r *reader) readControllers(e entryID) {
	l, g := r.l, r.l.g
	for range maxControllers {
		arc, owner := r.controllerOf(e)
		if owner == 0 {
			return
		}
		r.readArc(e, g.key(l.entries.at(e).node), arc)
		r.readVertex(owner, g.key(l.entries.at(owner).node))
		e = owner
	}
}

// controllerOf returns the arc from an entry to its controller, and the entry of that; 0 if the reader sees none.
func (r *reader) controllerOf(e entryID) (*arc, entryID) {
	l, g := r.l, r.l.g
	for id := g.nodes.at(l.entries.at(e).node).out; id != 0; id = g.arcs.at(id).nextOut {
		a := g.arcs.at(id)
		if a.typ != OwnerReference || a.flags&controller == 0 {
			continue
		}
		if how := l.arcNow(e, a); how.shown && !how.missing && r.admits(a, how) {
			return a, l.index.at(g.nodeAt(a.to, how.resource))
		}
	}
	return nil, 0
}
