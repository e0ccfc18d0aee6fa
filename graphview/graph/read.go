package graph

import (
	"errors"
	"fmt"
	"slices"
)

// ErrGone: the reader's position is older than the oldest tombstones. The reader has to start again
// with a zero Position.
var ErrGone = errors.New("position is before the horizon")

// ErrClosed is an ErrGone of a lens that is closed: the reader gets it again if it starts again.
var ErrClosed = fmt.Errorf("the lens is closed: %w", ErrGone)

// ErrCommitting: the lens lacks revisions; see Lens.Committing.
var ErrCommitting = errors.New("the lens is being committed")

// Op is what a Change does.
type Op uint8

// The operations of the stream protocol.
const (
	SetVertex Op = iota + 1
	DeleteVertex
	SetArc
	DeleteArc
)

// Change is one action that brings a reader's graph up to date.
type Change struct {
	Op Op
	// Vertex is the vertex, or the start of the arc.
	Vertex Key
	// Payload is the content of a vertex that is set, as its source set it. Part is the part that the
	// view selected, nil for all.
	Payload, Part any
	// Node identifies Vertex while it is in the graph. It is 0 if the change deletes an arc.
	Node NodeID
	// Root: the vertex is one of the view's roots.
	Root bool
	// Appeared: the reader did not have the vertex.
	Appeared bool
	// Logged is the revision in which anything about a vertex last changed.
	Logged uint64
	// Hash is Object.Hash, even if the view shows only a part of the object.
	Hash uint64
	// SideHash is Object.SideHash.
	SideHash uint64

	// To and Type complete an arc. ToNode identifies To while it is in the graph, 0 if it is not.
	To     Key
	ToNode NodeID
	Type   ArcType
	// Controller, BlockOwnerDeletion and Fields of an arc that is set. Missing: its target is not
	// in the graph; see Outside. Optional: the source works without the target.
	Controller, BlockOwnerDeletion, Missing, Optional bool
	Outside                                           Outside
	Fields                                            []string
}

// Position is how far a reader has read. The zero value is the beginning.
type Position struct {
	// Known is the revision at which the reader had the whole graph, 0 if never.
	Known uint64
	// from is the revision at which the current walk began, 0 if there is none.
	from uint64
	// next is the revision in the log up to which the walk has come, base the base of the lens then.
	next, base uint64
	// seen is the head of the lens at the last Read of the current walk, 0 if there is none.
	seen uint64
	// hub is how far the walk has read the arcs of a hub.
	hub hubPart
}

// Walking reports whether the reader is in the middle of a walk.
func (p Position) Walking() bool { return p.from != 0 }

// Seen returns the newest revision that the reader has read a part of. The reader must not use a piece
// that was read from the same Place at an older revision. An element that changed between the two
// revisions had moved to the end of the log for this reader, and is in neither piece.
func (p Position) Seen() uint64 { return max(p.seen, p.Known) }

// Place returns the position without Seen, which is equal for readers that have read equally far.
func (p Position) Place() Position {
	p.seen = 0
	return p
}

// Read returns the revision in the log up to which the reader has read.
func (p *Position) Read() uint64 {
	if p.Walking() {
		return p.next
	}
	return p.Known
}

// Between reports whether a reader may read the changes that lead from position a to position b: it knows all that a reader
// at a knows, and not all that a reader at b knows. It then is at b, and has read some elements again. See also Seen.
func (p *Position) Between(a, b *Position) bool {
	return a.Read() <= p.Read() && p.Read() < b.Read() && a.Known <= p.Known && a.Known > 0 &&
		a.hub == hubPart{} && p.hub == hubPart{} && (!a.Walking() || !p.Walking() || a.base == p.base)
}

// Reading selects the part of a lens that a reader gets. It must be the same each time.
type Reading struct {
	// Allow reports whether the reader may see the vertices of a resource in a namespace; others,
	// and arcs from or to them, are left out. Nil: all.
	Allow func(Resource, string) bool
	// All is for readers that show more of a vertex than its content. They also get vertices with
	// the same content when something else of the object may have changed.
	All bool
	// Has reports whether a reader that begins has a vertex, and the arcs that start there, as they were
	// when its walk began. Read then emits only what has changed since. Nil: the reader has nothing.
	Has func(Key) bool
	// Only selects vertices, for one reader that begins and does not read on when it has the graph. Nil: all vertices.
	Only *Notable
	// NoWait: Read returns ErrCommitting while the lens is late, and does not wait.
	NoWait bool
}

// Beginning returns the position of a reader that begins now. Several readers may begin there. The
// only error is ErrCommitting.
func (l *Lens) Beginning(how Reading) (Position, error) {
	if err := l.rlockFor(how); err != nil {
		return Position{}, err
	}
	defer l.g.mu.RUnlock()
	return Position{from: l.head, base: l.base}, nil
}

func (l *Lens) reader(how Reading, take func(Change) bool) reader {
	return reader{l: l, how: how, take: take}
}

// Read emits the net change since the reader's position, for at most limit log elements, and moves the
// position. If emit returns false, Read stops after the current element, or within the arcs of a hub.
// Read returns true when the reader has the whole graph as of one revision, which is then pos.Known.
// After ErrGone, the reader must drop its graph and begin with a zero Position, but for ErrClosed.
func (l *Lens) Read(pos *Position, limit int, how Reading, emit func(Change) bool) (bool, error) {
	r := l.reader(how, emit)
	if err := l.rlockFor(how); err != nil {
		return false, err
	}
	defer l.g.mu.RUnlock()
	if l.closed {
		return false, ErrClosed
	}
	if pos.from == 0 {
		pos.from, pos.next, pos.base = l.head, pos.Known, l.base
		if pos.Known > 0 {
			// Readers that have read equally far have equal positions, whenever they began.
			pos.from = pos.Known
		}
	}
	r.known, r.deletionsSince, r.began = pos.Known, pos.Known, pos.from
	if r.deletionsSince == 0 {
		// A reader that began with nothing only knows what it received since then.
		r.deletionsSince = pos.from
	}
	if r.deletionsSince < l.tombstones.horizon || pos.Known > l.head || pos.base != l.base {
		return false, ErrGone
	}
	elements := l.log.elements[l.log.after(l.stamp(pos.next)):]
	for i, el := range elements {
		if i-r.passed+r.passed/passedAtOnce >= limit || r.enough {
			pos.seen = l.head
			return false, nil
		}
		if l.entries.at(el.entry).logged == el.number && !r.read(el.entry, &pos.hub) {
			pos.seen = l.head
			return false, nil
		}
		pos.next = l.rev(el.number)
	}
	*pos = Position{Known: l.head}
	return true, nil
}

// passedAtOnce is the number of elements that a reader with Reading.Only passes over in the time of one element.
const passedAtOnce = 32

// reader is the state of one call of Read.
type reader struct {
	l    *Lens
	how  Reading
	take func(Change) bool

	known          uint64 // what changed after this revision is new to the reader
	deletionsSince uint64 // the reader may have vertices and arcs that disappeared after this revision
	began          uint64 // revision at which the walk began
	// enough: take wants no further elements.
	enough bool

	// passed counts the elements that Only passed over. place is that of the last one. hidden: the reader may not see its
	// objects. whole: all are notable.
	passed        int
	place         place
	hidden, whole bool
}

func (r *reader) emit(c Change) {
	if !r.take(c) {
		r.enough = true
	}
}

func (r *reader) allowed(k Key) bool {
	return r.how.Allow == nil || r.how.Allow(k.Resource, k.Namespace)
}

// namespacesAllowed reports whether the reader may see Namespace objects.
func (r *reader) namespacesAllowed() bool {
	return r.how.Allow == nil || r.how.Allow(r.l.g.resources.at(r.l.namespaceResource), "")
}

// read reads an element. It returns false if it stopped within the arcs of a hub.
func (r *reader) read(e entryID, hub *hubPart) (done bool) {
	l, g := r.l, r.l.g
	p := l.entries.at(e)
	if r.how.Only != nil && hub.entry != e && r.passes(p) {
		return true
	}
	key := g.key(p.node)
	if !r.allowed(key) {
		return true
	}
	if p.flags&shown == 0 {
		if l.rev(p.since) > r.deletionsSince {
			r.readTombstones(e, key)
			r.emit(Change{Op: DeleteVertex, Vertex: key, Node: NodeID(p.node)})
		}
		return true
	}
	if r.known == 0 && r.how.Has != nil && r.how.Has(key) {
		if l.rev(p.logged) <= r.began {
			return true
		}
		r.known = r.began
		defer func() { r.known = 0 }()
	}
	if hub.entry == e && hub.fits(l, e) {
		return r.readRest(e, key, hub)
	}
	if r.how.Only != nil {
		if !r.notable(e, key) {
			r.how.Only.Passed++
			return true
		}
		r.readControllers(e)
	}
	r.readVertex(e, key)
	r.readTombstones(e, key)
	return r.readArcs(e, key, g.nodes.at(p.node).out, hub)
}

// readVertex emits a visible vertex, if it or its content is new to the reader.
func (r *reader) readVertex(e entryID, key Key) {
	l, g := r.l, r.l.g
	p := l.entries.at(e)
	since, changed := l.rev(p.since), l.rev(p.changed)
	if r.how.All || max(since, changed) > r.known {
		r.emit(Change{
			Op: SetVertex, Vertex: key, Payload: g.nodes.at(p.node).payload, Part: l.parts[e].content, Node: NodeID(p.node),
			Root: p.flags&root != 0, Appeared: since > r.known, Logged: l.rev(p.logged), Hash: g.nodes.at(p.node).hash, SideHash: g.sideHashes[p.node],
		})
	}
}

// readArc emits an arc that starts at a visible entry, if it is new to the reader.
func (r *reader) readArc(e entryID, key Key, a *arc) { r.readArcSince(e, key, a, 0) }

// readArcSince is readArc for an arc that last changed in revision least or later.
func (r *reader) readArcSince(e entryID, key Key, a *arc, least uint64) {
	l, g := r.l, r.l.g
	// Most arcs of a hub have not changed, so their revision is compared before a look at how the view shows them.
	u := l.useOf(g.slots.at(a.to).kind)
	since := max(least, a.stamp(), l.rev(l.entries.at(e).since), u.since, r.targetSince(a.to, u.resource))
	if forInferred(a.flags) {
		since = max(since, l.excludeInferredSince)
	}
	if since <= r.known {
		return
	}
	how := l.arcNow(e, a)
	if !how.shown || !r.admits(a, how) {
		return
	}
	fields, guessed := g.fieldsOf(a.fields()), l.forInferred(a.flags)
	switch {
	case how.missing && a.flags&named != 0:
		// A selector's field would reveal that there is an object outside the view, and an inferred
		// reference exists only while its target does.
		fields = g.declaredOf(g.namedBy(a))
	case how.missing:
		fields = g.fieldsOf(g.namedBy(a))
	case guessed && how.readers&seeNamespaces != 0 && r.namespacesAllowed():
		fields = firstFields(slices.Concat(g.fieldsOf(g.namedBy(a)), fields))
	case guessed:
		// A selector's field would reveal a label of the namespace.
		fields = g.fieldsOf(g.namedBy(a))
	}
	r.emit(Change{
		Op: SetArc, Vertex: key, Node: NodeID(a.from), To: g.keyAt(a.to, how.resource), ToNode: NodeID(g.nodeAt(a.to, how.resource)), Type: a.typ,
		Controller: a.flags&controller != 0, BlockOwnerDeletion: a.flags&block != 0,
		Missing: how.missing, Outside: how.outside, Fields: fields,
		Optional: r.optional(a, how),
	})
}

// optional reports whether the source of an arc works without its target. It is false for selectors,
// which do not say.
func (r *reader) optional(a *arc, how arcView) bool {
	if a.typ == OwnerReference || a.flags&required != 0 {
		return false
	}
	return a.flags&named != 0 || how.missing || r.l.forInferred(a.flags)
}

// admits reports whether the reader may see an arc whose start it may see.
func (r *reader) admits(a *arc, how arcView) bool {
	return r.allowed(r.l.g.keyAt(a.to, how.resource)) && r.inAudience(how.readers)
}

// targetSince returns the revision in which the target of an arc last appeared or disappeared.
func (r *reader) targetSince(to slotID, resource resID) uint64 {
	if n := r.l.g.nodeAt(to, resource); n != 0 {
		if e := r.l.index.at(n); e != 0 {
			return r.l.rev(r.l.entries.at(e).since)
		}
	}
	return 0
}

// readTombstones emits the deletion of those arcs of an entry that are not shown again.
func (r *reader) readTombstones(e entryID, key Key) {
	l, g := r.l, r.l.g
	var sent map[arcTombstone]bool
	var d arcTombstone
	for id := l.tombstones.newest[e]; id != 0; id = d.older {
		if d = *l.tombstones.arcs.at(id); d.rev <= r.deletionsSince {
			return
		}
		if !r.inAudience(d.readers) {
			continue
		}
		if d.older != 0 || sent != nil {
			// The same arc may have several tombstones.
			if sent == nil {
				sent = make(map[arcTombstone]bool)
			}
			same := arcTombstone{to: d.to, resource: d.resource, typ: d.typ}
			if sent[same] {
				continue
			}
			sent[same] = true
		}
		if l.entries.at(e).flags&shown != 0 {
			if id, _ := g.findArc(l.entries.at(e).node, d.to, d.typ); id != 0 {
				if how := l.arcNow(e, g.arcs.at(id)); how.shown && how.resource == d.resource && r.inAudience(how.readers) {
					continue
				}
			}
		}
		if to := g.keyAt(d.to, d.resource); r.allowed(to) {
			r.emit(Change{Op: DeleteArc, Vertex: key, To: to, Type: d.typ})
		}
	}
}
