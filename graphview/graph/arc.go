package graph

import (
	"slices"
	"strings"
)

// Flags of an arc. An arc exists because a reference names its target, a selector matches its
// target, or both.
const (
	named uint16 = 1 << iota
	selected
	controller
	block
	// recorded: the arc is in Graph.changes of the open revision.
	recorded
	// removed: the arc was removed in the open revision.
	removed
	// noted: the arc is in the log of its hub for the open revision.
	noted
	// byNamespaceLabel: a selector matches that also selects by labels of the target's namespace.
	byNamespaceLabel
	// required: a reference names the target, and is not optional.
	required
	// inferred: an inferred reference names the target.
	inferred
)

// naming are the flags of references by name. A view shows an arc of an inferred reference only if
// the target exists, other arcs also without a target.
const naming = named | inferred

// bySelector are the flags that selectors set.
const bySelector = selected | byNamespaceLabel

// onlyByNamespace reports whether, in a view without inferred references, an arc exists only
// because of labels of its target's namespace.
func onlyByNamespace(flags uint16) bool { return flags&(named|bySelector) == byNamespaceLabel }

// forInferred reports whether inferred references make an arc that neither other references nor
// selectors without a namespace selector make.
func forInferred(flags uint16) bool { return flags&(inferred|named|selected) == inferred }

// forInferred reports whether the lens shows an arc for its inferred references; labels of namespaces
// may also make it.
func (l *Lens) forInferred(flags uint16) bool { return forInferred(flags) && !l.excludeInferred }

// arc leads from a node to a slot. Several references of one type from a node to a slot make one
// arc.
type arc struct {
	stamp            uint64 // revision of the last change
	from             nodeID
	to               slotID
	nextOut, prevOut arcID
	nextIn, prevIn   arcID
	namedBy, fields  fieldID // paths of the naming references, and those of setFields
	uid              uint32  // of the target; 0 for any
	typ              ArcType
	flags            uint16
}

// arcState is the state of an arc when the open revision began.
type arcState struct {
	exists bool
	flags  uint16
	uid    uint32
	// Paths that are no longer held are valid until the revision is committed.
	namedBy, fields fieldID
}

// arcChange is an arc that the open revision made, changed or removed.
type arcChange struct {
	id   arcID
	from nodeID
	to   slotID
	typ  ArcType
	was  arcState
}

// findArc walks the arcs out of the source and those into the target at the same time, so it takes
// as long as the shorter list: one end of a hub's arcs is a small object. It returns its steps
// instead of adding them to Graph.visits, because concurrent readers call it, too.
func (g *Graph) findArc(from nodeID, to slotID, typ ArcType) (id arcID, steps int) {
	out, in := g.nodes.at(from).out, g.slots.at(to).in
	for out != 0 && in != 0 {
		steps++
		o, i := g.arcs.at(out), g.arcs.at(in)
		if o.to == to && o.typ == typ {
			return out, steps
		}
		if i.from == from && i.typ == typ {
			return in, steps
		}
		out, in = o.nextOut, i.nextIn
	}
	return 0, steps
}

// addArc links a new arc without flags.
func (g *Graph) addArc(from nodeID, to slotID, typ ArcType) arcID {
	id := g.arcs.alloc()
	n, s := g.nodes.at(from), g.slots.at(to)
	*g.arcs.at(id) = arc{from: from, to: to, typ: typ, nextOut: n.out, nextIn: s.in, stamp: g.rev}
	if n.out != 0 {
		g.arcs.at(n.out).prevOut = id
	}
	n.out = id
	if s.in != 0 {
		g.arcs.at(s.in).prevIn = id
	}
	s.in = id
	s.arcs++
	g.payName(to)
	g.record(id, arcState{})
	return id
}

// touchArc records an arc that is about to change in the open revision.
func (g *Graph) touchArc(id arcID) *arc {
	a := g.noteArc(id)
	a.stamp = g.rev
	return a
}

// noteArc records an arc that may look different to a lens although the arc itself does not change.
func (g *Graph) noteArc(id arcID) *arc {
	a := g.arcs.at(id)
	if a.flags&recorded == 0 {
		g.record(id, arcState{exists: true, flags: a.flags, uid: a.uid, namedBy: a.namedBy, fields: a.fields})
	}
	return a
}

func (g *Graph) record(id arcID, was arcState) {
	a := g.arcs.at(id)
	a.flags |= recorded
	// Names have to outlive the arc until the revision is committed.
	g.slots.at(a.to).pins++
	g.nodes.at(a.from).pins++
	g.changes = append(g.changes, arcChange{id: id, from: a.from, to: a.to, typ: a.typ, was: was})
}

// removeArc unlinks an arc. Its id is not reused before the revision is committed.
func (g *Graph) removeArc(id arcID) {
	a := g.touchArc(id)
	a.flags |= removed
	if a.prevOut != 0 {
		g.arcs.at(a.prevOut).nextOut = a.nextOut
	} else {
		g.nodes.at(a.from).out = a.nextOut
	}
	if a.nextOut != 0 {
		g.arcs.at(a.nextOut).prevOut = a.prevOut
	}
	s := g.slots.at(a.to)
	if a.prevIn != 0 {
		g.arcs.at(a.prevIn).nextIn = a.nextIn
	} else {
		s.in = a.nextIn
	}
	if a.nextIn != 0 {
		g.arcs.at(a.nextIn).prevIn = a.prevIn
	}
	s.arcs--
	if a.flags&bySelector != 0 {
		s.selected--
		g.countMatch(a.from, -1)
	}
	g.setPaths(a, 0, 0)
}

// setPaths replaces the paths of an arc.
func (g *Graph) setPaths(a *arc, namedBy, fields fieldID) {
	g.paths.hold(namedBy)
	g.paths.hold(fields)
	g.paths.release(a.namedBy)
	g.paths.release(a.fields)
	a.namedBy, a.fields = namedBy, fields
	space := g.slots.at(g.nodes.at(a.from).slot).space
	g.payPaths(space, namedBy)
	g.payPaths(space, fields)
}

// desiredArc is an arc that the references of an object make.
type desiredArc struct {
	to     slotID
	typ    ArcType
	flags  uint16
	uid    uint32
	field  string   // of the first reference
	fields []string // of the others
	arc    arcID    // the existing arc, 0 if there is none
}

// setNames replaces the node's arcs by name with those of its references. A former arc stays if one of
// its fields begins with kept; no arc does if kept is "".
func (g *Graph) setNames(id nodeID, references []Reference, kept string) {
	want := g.desiredArcs[:0]
	var seen map[uint64]int // by slot and type; nil for few arcs
	find := func(to slotID, typ ArcType) int {
		if seen == nil {
			return slices.IndexFunc(want, func(o desiredArc) bool { return o.to == to && o.typ == typ })
		}
		if i, ok := seen[uint64(to)<<8|uint64(typ)]; ok {
			return i
		}
		return -1
	}
	add := func(w desiredArc, field string) {
		at := find(w.to, w.typ)
		if at < 0 {
			at = len(want)
			want = append(want, w)
			if len(want) == 32 {
				seen = make(map[uint64]int)
				for j := range want {
					seen[uint64(want[j].to)<<8|uint64(want[j].typ)] = j
				}
			} else if seen != nil {
				seen[uint64(w.to)<<8|uint64(w.typ)] = at
			}
		} else {
			want[at].flags |= w.flags
		}
		switch w := &want[at]; {
		case field == "":
		case w.field == "":
			w.field = field
		default:
			w.fields = append(w.fields, field)
		}
	}
	for i := range references {
		if r := &references[i]; r.Name != "" {
			add(desiredArc{to: g.target(r), typ: r.Type, flags: r.flags(), uid: uidHash(r.UID)}, r.Field)
		}
	}
	if kept != "" {
		g.eachNamed(id, kept, func(a *arc, field string) { add(desiredArc{to: a.to, typ: a.typ, flags: named | required}, field) })
	}
	g.desiredArcs = want
	bytes, exceeds := g.exceedsNames(id, want)
	if exceeds {
		g.leaveOut(want)
		want, seen = want[:0], nil
	}
	g.stale = g.stale[:0]
	for a := g.nodes.at(id).out; a != 0; a = g.arcs.at(a).nextOut {
		if i := find(g.arcs.at(a).to, g.arcs.at(a).typ); i >= 0 {
			want[i].arc = a
		} else {
			g.stale = append(g.stale, a)
		}
	}
	for i := range want {
		w := &want[i]
		if w.arc == 0 {
			w.arc = g.addArc(id, w.to, w.typ)
		}
		g.name(w.arc, w)
		w.fields = nil
	}
	for _, a := range g.stale {
		g.unname(a)
	}
	g.setNamed(id, len(want))
	if exceeds {
		g.leaveAllOut(id, bytes)
	}
}

// flags returns the flags that a reference by name gives an arc.
func (r *Reference) flags() uint16 {
	flags := named
	if r.Inferred {
		flags = inferred
	}
	if r.Controller {
		flags |= controller
	}
	if r.BlockOwnerDeletion {
		flags |= block
	}
	if !r.Optional && !r.Inferred {
		flags |= required
	}
	return flags
}

// eachNamed calls fn for each field that begins with a prefix and names the target of an arc of the
// node.
func (g *Graph) eachNamed(id nodeID, prefix string, fn func(a *arc, field string)) {
	for at := g.nodes.at(id).out; at != 0; at = g.arcs.at(at).nextOut {
		g.visits++
		a := g.arcs.at(at)
		for _, field := range g.fieldsOf(a.namedBy) {
			if strings.HasPrefix(field, prefix) {
				fn(a, field)
			}
		}
	}
}

// name sets the flags, UID and fields that the references to its target give an arc.
func (g *Graph) name(id arcID, w *desiredArc) {
	const attributes = naming | required | controller | block
	fields := g.fieldFor(w.field)
	if len(w.fields) > 0 {
		fields = g.fieldsFor(append(w.fields, w.field))
	}
	a := g.arcs.at(id)
	if a.flags&attributes == w.flags && a.uid == w.uid && a.namedBy == fields {
		return
	}
	a = g.touchArc(id)
	a.flags = a.flags&^attributes | w.flags
	a.uid = w.uid
	g.setPaths(a, fields, a.fields)
	g.setFields(id)
}

// unname removes the flags, UID and fields of references from an arc, or the whole arc if no
// selector matches its target.
func (g *Graph) unname(id arcID) {
	a := g.arcs.at(id)
	switch {
	case a.flags&bySelector == 0:
		g.removeArc(id)
	case a.flags&naming != 0:
		a = g.touchArc(id)
		a.flags &^= naming | required | controller | block
		a.uid = 0
		g.setPaths(a, 0, a.fields)
		g.setFields(id)
	}
}

// setFields derives an arc's fields from the references that name its target and the selectors of
// its source that match it. Selectors with a namespace selector count only if no named reference
// and no other selector makes the arc. If an inferred reference also makes it, readers of views that
// include inferred references get namedBy as well.
func (g *Graph) setFields(id arcID) {
	a := g.arcs.at(id)
	fields := a.namedBy
	if only := onlyByNamespace(a.flags); only || a.flags&selected != 0 {
		var paths []string
		if !only {
			paths = slices.Clone(g.fieldsOf(a.namedBy))
		}
		if h := g.nodes.at(a.from).holder; h != nil {
			for _, s := range g.matching(h, a.to) {
				if s.typ == a.typ && s.field != "" && (s.namespaceSelector != nil) == only {
					paths = append(paths, s.field)
				}
			}
		}
		fields = g.fieldsFor(paths)
	}
	if fields != a.fields {
		g.setPaths(g.touchArc(id), a.namedBy, fields)
	}
}

// target returns the slot that a reference names.
func (g *Graph) target(r *Reference) slotID {
	kind := g.kindFor(r.To)
	space := clusterSpace
	if r.Scope == ScopeNamespaced || r.Scope == ScopeUnknown && g.scopes[kind] != ScopeCluster {
		space = g.spaces.intern(r.Namespace)
	}
	return g.slotFor(kind, space, r.Name)
}
