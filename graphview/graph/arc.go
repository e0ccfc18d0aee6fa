package graph

import "slices"

// Flags of an arc. An arc exists because a reference names its target, a selector matches its
// target, or both.
const (
	named uint16 = 1 << iota
	selected
	controller
	block
	// recorded: the arc is in Graph.changes, which are those of the open revision.
	recorded
	// removed: the arc was removed in the open revision, or in an earlier one without a commit of all lenses yet.
	removed
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
// arc. An object has six or seven, so an arc is small.
type arc struct {
	from             nodeID
	to               slotID
	nextOut, prevOut arcID
	nextIn, prevIn   arcID
	// word is the result of uid for an owner reference, which has no paths, and of fields for other types.
	word      uint32
	stampLow  uint32
	stampHigh uint8
	typ       ArcType
	flags     uint16
}

// stamp returns the revision of the last change. It has 40 bits: decades, at a thousand changes per second.
func (a *arc) stamp() uint64 { return uint64(a.stampHigh)<<32 | uint64(a.stampLow) }

func (a *arc) setStamp(rev uint64) {
	a.stampLow, a.stampHigh = uint32(rev), uint8(rev>>32) //nolint:gosec // in two parts
}

// uid returns the UID of the target; 0 for any.
func (a *arc) uid() uint32 {
	if a.typ == OwnerReference {
		return a.word
	}
	return 0
}

// fields returns the paths that fieldsFrom derived.
func (a *arc) fields() fieldID {
	if a.typ == OwnerReference {
		return 0
	}
	return fieldID(a.word)
}

// namedBy returns the paths of the references that name the target of an arc. They are its fields unless selectors
// also make the arc.
func (g *Graph) namedBy(a *arc) fieldID {
	switch {
	case a.flags&naming == 0:
		return 0
	case a.flags&bySelector == 0:
		return a.fields()
	}
	return g.alsoNamed[a.ends()]
}

// arcEnds identifies an arc.
type arcEnds struct {
	from nodeID
	to   slotID
	typ  ArcType
}

func (a *arc) ends() arcEnds { return arcEnds{a.from, a.to, a.typ} }

// arcState is the state of an arc before it changed.
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
	gone bool // removed by the end of the revision
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
	*g.arcs.at(id) = arc{from: from, to: to, typ: typ, nextOut: n.out, nextIn: s.in}
	g.arcs.at(id).setStamp(g.rev)
	if n.out != 0 {
		g.arcs.at(n.out).prevOut = id
	}
	n.out = id
	if s.in != 0 {
		g.arcs.at(s.in).prevIn = id
	}
	s.in = id
	s.arcs++
	if from == g.outOf.from {
		g.outOf.arcs[arcTo{to, typ}] = id
	}
	g.payName(to)
	g.record(id, arcState{})
	return id
}

// touchArc records an arc that is about to change in the open revision.
func (g *Graph) touchArc(id arcID) *arc {
	a := g.noteArc(id)
	a.setStamp(g.rev)
	return a
}

// noteArc records an arc that may look different to a lens although the arc itself does not change.
func (g *Graph) noteArc(id arcID) *arc {
	a := g.arcs.at(id)
	if a.flags&recorded == 0 {
		g.record(id, arcState{exists: true, flags: a.flags, uid: a.uid(), namedBy: g.namedBy(a), fields: a.fields()})
	}
	return a
}

func (g *Graph) record(id arcID, was arcState) {
	a := g.arcs.at(id)
	a.flags |= recorded
	// Names have to outlive the arc until all lenses have committed the revision.
	g.slots.at(a.to).pins++
	g.nodes.at(a.from).pins++
	g.open.changes = append(g.open.changes, arcChange{id: id, from: a.from, to: a.to, typ: a.typ, was: was})
}

// removeArc unlinks an arc. Its id is not reused before all lenses have committed the revision.
func (g *Graph) removeArc(id arcID) {
	a := g.touchArc(id)
	a.flags |= removed
	if a.from == g.outOf.from {
		delete(g.outOf.arcs, arcTo{a.to, a.typ})
	}
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
	if a.flags&byNamespaceLabel != 0 {
		g.countLabelled(s.kind, -1)
	}
	if a.flags&bySelector != 0 {
		s.selected--
		g.countMatch(a.from, -1)
	}
	g.setPaths(a, a.flags, 0, 0)
}

// setPaths replaces the flags of an arc, which say where its paths are, and the paths.
func (g *Graph) setPaths(a *arc, flags uint16, namedBy, fields fieldID) {
	g.paths.hold(namedBy)
	g.paths.hold(fields)
	g.paths.release(g.namedBy(a))
	g.paths.release(a.fields())
	if a.flags = flags; a.typ != OwnerReference {
		a.word = uint32(fields)
	}
	if namedBy != 0 && flags&bySelector != 0 {
		g.alsoNamed[a.ends()] = namedBy
	} else if len(g.alsoNamed) > 0 {
		delete(g.alsoNamed, a.ends())
	}
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

// setNames replaces the node's arcs by name with those of its references.
func (g *Graph) setNames(id nodeID, references []Reference) {
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
			add(desiredArc{to: g.target(r), typ: r.Type, flags: r.flags(), uid: r.uid()}, r.Field)
		}
	}
	g.desiredArcs = want
	bytes, exceeds := g.exceedsNames(id, want)
	if exceeds {
		g.dropTargets(want)
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
	g.takeIn(id)
	if g.setNamed(id, len(want)); exceeds {
		g.leaveOut(id, leftOut{names: bytes})
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

// uid returns the UID that the target of an owner reference has to have, 0 for any.
func (r *Reference) uid() uint32 {
	if r.Type != OwnerReference {
		return 0
	}
	return uidHash(r.UID)
}

// name sets the flags, UID and fields that the references to its target give an arc.
func (g *Graph) name(id arcID, w *desiredArc) {
	const attributes = naming | required | controller | block
	var fields fieldID
	switch {
	case w.typ == OwnerReference:
	case len(w.fields) > 0:
		fields = g.fieldsFor(append(w.fields, w.field))
	default:
		fields = g.fieldFor(w.field)
	}
	if a := g.arcs.at(id); a.uid() != w.uid {
		g.touchArc(id).word = w.uid
	}
	g.describe(id, g.arcs.at(id).flags&^attributes|w.flags, fields)
}

// unname removes the flags, UID and fields of references from an arc, or the whole arc if no
// selector matches its target.
func (g *Graph) unname(id arcID) {
	a := g.arcs.at(id)
	switch {
	case a.flags&bySelector == 0:
		g.removeArc(id)
	case a.flags&naming != 0:
		g.describe(id, a.flags&^(naming|required|controller|block), 0)
	}
}

// describe sets the flags of an arc and the paths of the references that name its target, and derives its fields.
func (g *Graph) describe(id arcID, flags uint16, namedBy fieldID) {
	a := g.arcs.at(id)
	fields := g.fieldsFrom(a, flags, namedBy)
	if flags != a.flags || namedBy != g.namedBy(a) || fields != a.fields() {
		a = g.touchArc(id)
		g.setPaths(a, flags|a.flags&recorded, namedBy, fields)
	}
}

// fieldsFrom derives an arc's fields from the references that name its target and the selectors of
// its source that match it. Selectors with a namespace selector count only if no named reference
// and no other selector makes the arc. If an inferred reference also makes it, readers of views that
// include inferred references get namedBy as well.
func (g *Graph) fieldsFrom(a *arc, flags uint16, namedBy fieldID) fieldID {
	only := onlyByNamespace(flags)
	if a.typ == OwnerReference || !only && flags&selected == 0 {
		return namedBy
	}
	var paths []string
	if !only {
		paths = slices.Clone(g.fieldsOf(namedBy))
	}
	if h := g.nodes.at(a.from).holder; h != nil {
		for _, s := range g.matching(h, a.to) {
			if s.typ != a.typ || s.field == "" || (s.namespaceSelector != nil) != only {
				continue
			}
			if n := len(paths); n == 0 || paths[n-1] != s.field { // most selectors of an object are of one field
				paths = append(paths, s.field)
			}
		}
	}
	return g.fieldsFor(paths)
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
