package graph

// A hub may have a hundred thousand arcs. If one Read took all of them, the writer would wait for it, and
// the caller would hold all of them. So Read stops within the arcs of a hub, and the next one goes on
// there. If the hub has changed since, it is also read again: what the reader has of it is compared, and
// only the changes are emitted.

const (
	// arcsAtOnce is the number of arcs of one element that a Read visits. It visits a sixteenth if the
	// caller wants no more, and comparedAtOnce times as many if the reader has had the element: it then has most of the arcs.
	arcsAtOnce     = 4096
	comparedAtOnce = 8
	// maxHubParts is the number of hubs that a walk reads in parts. It reads further ones at once: hubs
	// that change all the time would otherwise displace each other, and the walk would not end.
	maxHubParts = 16
)

// hubPart is how far a walk has read the arcs of a hub.
type hubPart struct {
	entry entryID
	next  arcID  // the next arc, 0 if the reader has all of them
	asOf  uint64 // the revision at which the reader has those before it
	begun uint8  // number of hubs that the walk has begun
}

// fits reports whether the part is still one of the entry: the hub is the same vertex, and the next arc
// is still one of its arcs. New arcs come before all others.
func (h *hubPart) fits(l *Lens, e entryID) bool {
	p := l.entries.at(e)
	if l.rev(p.since) > h.asOf {
		return false
	}
	if h.next == 0 {
		return true
	}
	a := l.g.arcs.at(h.next)
	return a.from == p.node && a.flags&removed == 0
}

// readRest goes on with a hub. If the hub has changed, it first emits the changes of the part that the
// reader has.
func (r *reader) readRest(e entryID, key Key, hub *hubPart) (done bool) {
	l, g := r.l, r.l.g
	if p := l.entries.at(e); l.rev(p.logged) > hub.asOf {
		known, deletionsSince := r.known, r.deletionsSince
		r.known, r.deletionsSince = hub.asOf, hub.asOf
		r.readVertex(e, key)
		r.readTombstones(e, key)
		for id := g.nodes.at(p.node).out; id != hub.next; id = g.arcs.at(id).nextOut {
			r.readArc(e, key, g.arcs.at(id))
		}
		r.known, r.deletionsSince = known, deletionsSince
	}
	hub.asOf = l.head
	return r.readArcs(e, key, hub.next, hub)
}

// readArcs reads the arcs of an entry from one on. It returns false if it stopped before the last one.
func (r *reader) readArcs(e entryID, key Key, from arcID, hub *hubPart) (done bool) {
	l, g := r.l, r.l.g
	atOnce := g.arcsAtOnce
	if l.rev(l.entries.at(e).since) <= r.known {
		atOnce *= comparedAtOnce
	}
	for id, visits := from, 1; id != 0; visits++ {
		a := g.arcs.at(id)
		id = a.nextOut
		r.readArc(e, key, a)
		full := visits%atOnce == 0 || r.enough && visits >= g.arcsAtOnce/16
		if id != 0 && full && hub.begin(l, e) {
			hub.next = id
			return false
		}
	}
	if hub.entry == e {
		hub.next = 0
	}
	return true
}

// begin reports whether the arcs of an entry may be read in parts, and makes the part one of the entry.
func (h *hubPart) begin(l *Lens, e entryID) bool {
	switch {
	case h.entry == e && h.asOf == l.head:
		return true
	case h.begun == maxHubParts, h.entry != 0 && h.entry != e && h.next != 0:
		return false
	}
	*h = hubPart{entry: e, asOf: l.head, begun: h.begun + 1}
	return true
}
