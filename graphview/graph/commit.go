package graph

// commit commits the open revision to the lens, and the revisions that it lacks: it finds the nodes that became visible or
// invisible, and the arcs that look different, and logs them. Its work is proportional to the changes
// and the arcs around them.
//
// It examines each arc once: because the arc is recorded, else because its source appeared or
// disappeared, else because its target did, else because the view began or ceased to see the
// target's namespace, or to know that a missing target exists. If the view watches a kind
// differently, or began or ceased to exclude inferred references, it instead examines all arcs that
// this may affect in one pass.
//
// It reports whether the kinds that the view watches changed, or the contents or the counts of the lens.
func (l *Lens) commit() bool {
	g := l.g
	if len(l.usesWas) > 0 {
		l.visit(int(l.entries.next))
		for p, e := range l.all {
			if _, ok := l.usesWas[g.nodes.at(p.node).kind]; ok {
				l.mark(e)
			}
		}
	}
	relabelled := l.namespacesRelabelled()
	switch {
	case l.replant, l.rooted && len(l.usesWas)+len(relabelled) > 0:
		l.recomputeReached()
		l.replant = false
	case l.rooted && l.depth > 0:
		if l.walkChanged() {
			l.rewalk()
		}
	case l.rooted:
		l.repair()
	}
	before := l.head
	came, went, turned := l.move()
	l.examineAll(came, went, turned, relabelled)
	l.conclude()
	l.tidy()
	changed := l.storeUses()
	if l.head != before {
		l.storeHead()
		changed = true
	}
	l.unpublished = l.unpublished || changed
	changed = changed || l.recounted
	l.recounted = false
	return changed
}

// move finds the entries that became visible (came) or invisible (went), and logs them and the
// entries with other content. The entries in turned stay invisible, but became vertices or ceased
// to be vertices. Deleted vertices come first in the log, so that a reader deletes before it sets.
func (l *Lens) move() (came, went, turned []entryID) {
	now := l.stamp(l.g.rev)
	l.visit(3 * len(l.dirty))
	for _, e := range l.dirty {
		p := l.entries.at(e)
		switch was, is := p.flags&shown != 0, l.visible(p); {
		case was && !is:
			p.since = now
			l.vertices--
			l.push(e)
			l.entombVertex(e)
			went = append(went, e)
		case is && !was:
			came = append(came, e)
		case !is && l.vertexChanged(p):
			turned = append(turned, e)
		}
	}
	for _, e := range came {
		p := l.entries.at(e)
		p.since, p.changed = now, now
		l.vertices++
		l.push(e)
	}
	for _, e := range l.dirty {
		if p := l.entries.at(e); p.flags&shown != 0 && p.flags&(fresh|rerooted|sideChanged) != 0 && l.visible(p) {
			l.push(e)
		}
	}
	return came, went, turned
}

// examineAll examines each arc that may look different, once.
func (l *Lens) examineAll(came, went, turned []entryID, relabelled []spaceID) {
	changes := l.g.lacked.changes
	l.visit(len(changes))
	for i := range changes {
		c := &changes[i]
		if e := l.index.at(c.from); e != 0 {
			l.examine(e, c.id, c.was)
		}
	}
	for _, list := range [2][]entryID{went, came} {
		for _, e := range list {
			l.examineOut(e)
		}
	}
	if len(l.usesWas)+len(l.coverageWas) > 0 || l.excludeInferred != l.excludedInferred {
		// Any arc of the lens may look different.
		l.visit(int(l.entries.next))
		for p := range l.all {
			for id := l.g.nodes.at(p.node).out; id != 0; id = l.g.arcs.at(id).nextOut {
				l.visit(1)
				if l.mayDiffer(l.g.arcs.at(id)) {
					l.examineUnchanged(id)
				}
			}
		}
		return
	}
	for _, list := range [3][]entryID{went, came, turned} {
		for _, e := range list {
			for id := l.g.slots.at(l.slotOf(e)).in; id != 0; id = l.g.arcs.at(id).nextIn {
				l.examineUnchanged(id)
			}
		}
	}
	l.examineNamespaces(relabelled)
	l.examineOutside(relabelled)
}

// conclude stores the visibility of this revision, which the next revision starts from.
func (l *Lens) conclude() {
	l.visit(2 * len(l.dirty))
	for _, e := range l.dirty {
		p := l.entries.at(e)
		was := p.flags&shown != 0
		p.flags &^= dirty | fresh | rerooted | sideChanged | present | shown
		if l.active(p) {
			p.flags |= present
		}
		if l.visible(p) {
			p.flags |= shown
		}
		l.reclass(p, was)
	}
	for _, e := range l.dirty {
		// An entry that was never shown needs no tombstone.
		if p := l.entries.at(e); p.node != 0 && p.flags&member == 0 && p.logged == 0 {
			l.free(e)
		}
	}
}

// tidy frees scratch space and squeezes the log after a revision.
func (l *Lens) tidy() {
	const keep = 1024 // elements of scratch space that stay allocated
	if cap(l.dirty) > keep {
		l.dirty = nil
	}
	if cap(l.queue) > keep {
		l.queue = nil
	}
	l.dirty = l.dirty[:0]
	l.forgetUses()
	clear(l.coverageWas)
	l.excludedInferred = l.excludeInferred
	l.clearTombstones()
	if len(l.log.elements) >= l.log.live+l.log.live/4+256 {
		l.visit(len(l.log.elements) / 8)
		l.squeeze()
	}
}

// stable reports whether the visibility of the entry is unchanged.
func (l *Lens) stable(p *entry) bool { return (p.flags&shown != 0) == l.visible(p) }

// vertexChanged reports whether the entry became a vertex of the view or ceased to be one.
func (l *Lens) vertexChanged(p *entry) bool { return (p.flags&present != 0) != l.active(p) }

// examineOut examines the arcs of an entry that appeared or disappeared.
func (l *Lens) examineOut(e entryID) {
	g := l.g
	for id := g.nodes.at(l.entries.at(e).node).out; id != 0; id = g.arcs.at(id).nextOut {
		l.visit(1)
		if a := g.arcs.at(id); !g.lacked.has(id, a) {
			l.examine(e, id, arcState{exists: true, flags: a.flags, uid: a.uid()})
		}
	}
}

// examineUnchanged examines an arc that did not change itself, unless examineOut already examines it.
func (l *Lens) examineUnchanged(id arcID) {
	l.visit(1)
	a := l.g.arcs.at(id)
	if from := l.index.at(a.from); from != 0 && !l.g.lacked.has(id, a) && l.stable(l.entries.at(from)) {
		l.examine(from, id, arcState{exists: true, flags: a.flags, uid: a.uid()})
	}
}

// mayDiffer reports whether an arc may look different because of its target, the way the view watches
// the target's kind, or a change of whether the view excludes inferred references.
func (l *Lens) mayDiffer(a *arc) bool {
	kind := l.g.slots.at(a.to).kind
	if a.flags&(inferred|byNamespaceLabel) != 0 || !l.settled(a.to) {
		return true
	}
	_, used := l.usesWas[kind]
	_, covered := l.coverageWas[kind]
	_, existed := l.g.lacked.existed[existence{a.to, l.used(kind)}]
	return used || covered || existed
}

// settled reports whether the object of a slot did not change for the view: it neither appeared nor
// disappeared, nor became a vertex or ceased to be one.
func (l *Lens) settled(at slotID) bool {
	e := l.entryAt(at)
	if e == 0 {
		return true
	}
	p := l.entries.at(e)
	return l.stable(p) && !l.vertexChanged(p)
}

func (l *Lens) slotOf(e entryID) slotID { return l.g.nodes.at(l.entries.at(e).node).slot }

// arcView is an arc as a view shows it.
type arcView struct {
	shown    bool
	missing  bool     // the target is not in the graph; also set if shown is false
	outside  Outside  // where a missing target may be
	readers  audience // that the view shows the arc to
	resource resID    // of its target
}

// examine compares how an arc looked with how it looks now, and logs its source if they differ.
func (l *Lens) examine(from entryID, id arcID, was arcState) {
	l.visit(1)
	a := l.g.arcs.at(id)
	changed := l.g.lacked.has(id, a)
	before := l.arcBefore(from, a.to, was)
	var now arcView
	if a.flags&removed == 0 {
		now = l.arcNow(from, a)
	}
	if before.shown {
		l.arcs--
	}
	if before.missing {
		l.countMissing(a, before, was.flags, -1)
	}
	if now.shown {
		l.arcs++
	}
	if now.missing {
		l.countMissing(a, now, a.flags, 1)
	}
	if before.shown && (!now.shown || now.resource != before.resource || before.readers.exceeds(now.readers)) {
		// The arc now depends on the labels of the namespace. A reader without rights on the namespace
		// loses it.
		l.entombArc(from, arcTombstone{to: a.to, resource: before.resource, typ: a.typ, readers: before.readers})
		l.push(from)
	}
	switch {
	case !now.shown, now == before && !changed:
	case a.stamp() >= l.g.lacked.rev:
		l.push(from)
	case now != before:
		relabelled := now.readers == seeNamespaces || before.shown && (now.readers^before.readers)&seeNamespaces != 0
		if changed || relabelled || now.missing && (!before.shown || now.outside != before.outside) {
			// The target was replaced by another object of the same name or deleted without having
			// been visible, or the view learned or lost the labels of its namespace, or learned where it
			// is. No end of the arc appeared or disappeared, so the revision is stored in the arc.
			l.g.restamp(id)
		}
		l.push(from)
	}
}

// arcNow returns how the view shows an arc of entry from now.
func (l *Lens) arcNow(from entryID, a *arc) arcView {
	at := l.g.slots.at(a.to)
	u := l.useOf(at.kind)
	if !u.has(at) || !l.visible(l.entries.at(from)) {
		return arcView{}
	}
	r := u.resource
	if n := l.g.nodeAt(a.to, r); n != 0 && (a.uid() == 0 || a.uid() == l.g.nodes.at(n).uid) {
		if e := l.index.at(n); e != 0 && l.active(l.entries.at(e)) {
			readers := l.audienceNow(a.flags, a.to)
			if readers == 0 || !l.visible(l.entries.at(e)) {
				return arcView{}
			}
			return arcView{shown: true, resource: r, readers: readers}
		}
	}
	if a.flags&naming == 0 {
		return arcView{} // a selector makes no arc without an object
	}
	return absentArc(a.flags, l.excludeInferred, r, l.outside(a.to, u, u.coverage, a.uid(), l.g.existsNow))
}

// absentArc returns how a view shows an arc whose target is not a vertex. An inferred reference
// makes such an arc only if the target exists outside the view.
func absentArc(flags uint16, excludeInferred bool, r resID, outside Outside) arcView {
	if flags&named == 0 && (excludeInferred || outside != Elsewhere) {
		return arcView{missing: true, outside: outside, resource: r}
	}
	return arcView{shown: true, missing: true, outside: outside, readers: everyone, resource: r}
}

// arcBefore returns how the view showed an arc at its last commit.
func (l *Lens) arcBefore(from entryID, to slotID, was arcState) arcView {
	at := l.g.slots.at(to)
	u := l.useBefore(at.kind)
	if !was.exists || !u.has(at) || l.entries.at(from).flags&shown == 0 {
		return arcView{}
	}
	r := u.resource
	if n := l.g.nodeAt(to, r); n != 0 {
		uid := l.g.lacked.former(l.g, n).uid
		if e := l.index.at(n); e != 0 && l.entries.at(e).flags&present != 0 && (was.uid == 0 || was.uid == uid) {
			if l.entries.at(e).flags&shown == 0 {
				return arcView{}
			}
			if readers := l.audienceBefore(was.flags, to); readers != 0 {
				return arcView{shown: true, resource: r, readers: readers}
			}
			return arcView{}
		}
	}
	if was.flags&naming == 0 {
		return arcView{}
	}
	return absentArc(was.flags, l.excludedInferred, r, l.outside(to, u, l.coverageBefore(at.kind), was.uid, l.g.existedBefore))
}

// audience is a set of readers that an arc is shown to. An arc that only labels of namespaces make is
// shown to readers with the right to read these.
type audience uint8

const (
	// seeNamespaces are the readers with the right to read labels of namespaces: labels make the arc.
	seeNamespaces audience = 1 << iota
	// everyone are all readers: something else than labels of namespaces makes the arc.
	everyone
)

// audienceOf returns the readers of an arc with these flags, in a view that has all namespaces.
func audienceOf(flags uint16, excludeInferred bool) (a audience) {
	if flags&(named|selected) != 0 {
		return everyone
	}
	if flags&inferred != 0 && !excludeInferred {
		a |= everyone
	}
	if flags&byNamespaceLabel != 0 {
		a |= seeNamespaces
	}
	return a
}

// exceeds reports whether next lacks a member of this audience.
func (a audience) exceeds(next audience) bool {
	return a&^next&everyone != 0 || a != 0 && next == 0
}

// audienceNow returns the readers that get an arc to a vertex of the lens, none if the lens does
// not follow the arc. audienceBefore returns those of the last commit.
func (l *Lens) audienceNow(flags uint16, to slotID) audience {
	a := audienceOf(flags, l.excludeInferred)
	if a&seeNamespaces != 0 && !l.seesNamespace(l.g.slots.at(to).space) {
		a &^= seeNamespaces
	}
	return a
}

func (l *Lens) audienceBefore(flags uint16, to slotID) audience {
	a := audienceOf(flags, l.excludedInferred)
	if a&seeNamespaces != 0 && !l.sawNamespace(l.g.slots.at(to).space) {
		a &^= seeNamespaces
	}
	return a
}

// inAudience reports whether the reader belongs to an audience.
func (r *reader) inAudience(a audience) bool {
	return a&everyone != 0 || a&seeNamespaces != 0 && r.namespacesAllowed()
}
