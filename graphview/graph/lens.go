package graph

import (
	"slices"
	"sync/atomic"

	"graphview.dev/graphview/budget"
)

// use is the resource under which a view watches a kind.
type use struct {
	resource resID
	since    uint64
	// namespaced: objects of the kind live in namespaces, so that none has a name without a namespace.
	namespaced bool
	coverage   *Coverage // nil for all
}

// has reports whether an object of the resource may have this name.
func (u use) has(s *slot) bool { return u.resource != 0 && !(u.namespaced && s.space == clusterSpace) }

// Lens is one view's picture of the graph. Make it with Graph.NewLens.
type Lens struct {
	g *Graph
	// latest and late are read without a lock; see Changed and Committing. late is set under the graph's.
	latest      latest
	late        atomic.Pointer[lateness] // nil if the lens has all revisions
	owner       *lensOwner
	unpublished bool // the lens or its uses changed since Publish
	sources     map[SourceID]struct{}
	uses        []use // by kind
	usesWas     map[kindID]use
	usesRev     uint64 // revision in which uses last changed
	// coverageWas has the coverage before the open revision, of kinds whose coverage changed but not
	// their use.
	coverageWas       map[kindID]*Coverage
	namespaceResource resID // under which the view watches, or watched, NamespaceKind

	rooted         bool
	along, against ways // see Walk
	replant        bool // compute all reached entries again
	// excludedInferred is excludeInferred as of the last commit.
	excludeInferred, excludedInferred bool
	excludeInferredSince              uint64
	// With a depth, near are the entries within it, and rootEntries the roots.
	depth       int
	near        []entryID
	walked      int // number of visits of a walk in this commit
	rootEntries map[entryID]struct{}
	removal     *removeMembers // nil if each member has a source
	closed      bool

	base    uint64 // of stamps
	index   index
	entries slab[entryID, entry]
	parts   map[entryID]part // by entry
	// partContent is the length of the contents of all parts, in bytes.
	partContent int64
	dirty       []entryID
	queue       []entryID // of spread

	log        log
	tombstones tombstones
	head       uint64

	vertices, arcs, roots int
	classes               [Classes]int // of visible vertices
	missing               map[location]absence
	needed                int  // the sum for all locations
	recounted             bool // classes or needed changed in the open revision
	objects               map[resID]int
}

// Selection is a view's decision about an object.
type Selection struct {
	Member, Root bool
	// Part is the content that the view shows instead of the object's payload; nil for the payload.
	Part any
	// Hash is equal for equal Parts.
	Hash uint64
	// OtherContent: the decision is about another content than the graph has; see Graph.Has.
	OtherContent bool
}

// NewLens adds a lens that shows nothing yet; see SetOwner. In Update.
func (g *Graph) NewLens() *Lens {
	l := &Lens{
		g:           g,
		owner:       g.ownerOf(budget.Owner{}),
		sources:     make(map[SourceID]struct{}),
		usesWas:     make(map[kindID]use),
		coverageWas: make(map[kindID]*Coverage),
		base:        g.rev - 1,
		parts:       make(map[entryID]part),
		objects:     make(map[resID]int),
		missing:     make(map[location]absence),
		head:        g.rev,
		// Older positions belong to another lens.
		tombstones: tombstones{horizon: g.rev},
	}
	l.latest.head.Store(l.head)
	l.latest.published.Store(l.head)
	l.latest.change.Store(make(chan struct{}))
	g.lenses = append(g.lenses, l)
	return l
}

// Close removes the lens from the graph, and releases its nodes in slices; see Graph.HasCleanup.
// Readers get ErrClosed. In Update.
func (l *Lens) Close() {
	if l.closed {
		return
	}
	l.closed = true
	for id := range l.sources {
		if src := l.g.sources[id]; src != nil {
			delete(src.lenses, l)
		}
	}
	clear(l.sources)
	for k, u := range l.uses {
		if u.resource != 0 {
			l.g.kinds.release(kindID(k))
			l.g.resources.release(u.resource)
		}
	}
	l.g.resources.release(l.namespaceResource)
	l.uses, l.namespaceResource = nil, 0
	l.index, l.log, l.dirty, l.parts = index{}, log{}, nil, nil
	l.near, l.rootEntries = nil, nil
	l.tombstones.horizon = ^uint64(0)
	l.g.lenses = slices.DeleteFunc(l.g.lenses, func(other *Lens) bool { return other == l })
	l.g.releaseOwner(l.owner)
	l.forgetUses()
	l.catchUp()
	l.g.cleanups = append(l.g.cleanups, &closeLens{l: l})
}

// Watch adds a source to the lens. Its objects may become members. In Update.
func (l *Lens) Watch(id SourceID) {
	if src := l.g.sources[id]; src != nil && !l.closed {
		l.sources[id] = struct{}{}
		src.lenses[l] = struct{}{}
	}
}

// Unwatch removes sources from the lens. Objects that no other source of the lens sees cease to be
// members before Graph.HasCleanup becomes false. In Update.
func (l *Lens) Unwatch(ids ...SourceID) {
	before := len(l.sources)
	for _, id := range ids {
		delete(l.sources, id)
		if src := l.g.sources[id]; src != nil {
			delete(src.lenses, l)
		}
	}
	switch {
	case len(l.sources) == before:
	case l.removal != nil:
		l.removal.next = 0 // start again with the first entry
	default:
		l.removal = &removeMembers{l: l}
		l.g.cleanups = append(l.g.cleanups, l.removal)
	}
}

// sees reports whether a source of the lens other than except claims the node.
func (l *Lens) sees(id nodeID, except SourceID) bool {
	has := func(c SourceID) bool {
		_, ok := l.sources[c]
		return ok && c != except
	}
	if c := l.g.nodes.at(id).claim; c != 0 && has(c) {
		return true
	}
	return slices.ContainsFunc(l.g.claims[id], has)
}

func (l *Lens) unclaimed(id nodeID, source SourceID) {
	if _, ok := l.sources[source]; !ok {
		return
	}
	if e := l.index.at(id); e != 0 && !l.sees(id, source) {
		l.deselect(e)
	}
}

// Use sets the resource under which the view watches a kind. Vertices of other versions are hidden,
// and references to the kind become arcs. In Update.
func (l *Lens) Use(kind Kind, resource Resource) {
	if l.closed {
		return
	}
	k := l.g.kindFor(kind)
	l.setUse(k, use{resource: l.g.resources.intern(resource), namespaced: l.g.scopes[k] == ScopeNamespaced})
}

// Unuse removes a kind that the view no longer watches. In Update.
func (l *Lens) Unuse(kind Kind) {
	if k := l.g.kinds.find(kind); k != 0 && !l.closed {
		l.setUse(k, use{})
	}
}

func (l *Lens) setUse(k kindID, next use) {
	for len(l.uses) <= int(k) {
		l.uses = append(l.uses, use{})
	}
	before := l.uses[k]
	if before.resource == next.resource && before.namespaced == next.namespaced {
		return
	}
	// A kind without objects and references does not change the lens.
	if l.g.slotsOf[k] > 0 {
		if len(l.usesWas) == 0 {
			l.visitAll()
		}
		l.noteUse(k, before)
	}
	if next.resource != 0 {
		l.g.kinds.hold(k)
	}
	if before.resource != 0 {
		l.g.kinds.release(k)
	}
	l.g.resources.hold(next.resource)
	l.g.resources.release(before.resource)
	if next.since = l.g.rev; next.resource != 0 {
		next.coverage = before.coverage
	}
	l.uses[k] = next
	l.usesRev = l.g.rev
	if k == l.g.namespaces && next.resource != 0 {
		l.g.resources.hold(next.resource)
		l.g.resources.release(l.namespaceResource)
		l.namespaceResource = next.resource
	}
}

// noteUse keeps how the view watched a kind before the open revision, until the next commit.
func (l *Lens) noteUse(k kindID, before use) {
	if _, ok := l.usesWas[k]; ok {
		return
	}
	l.usesWas[k] = before
	if before.resource != 0 {
		l.g.kinds.hold(k)
		l.g.resources.hold(before.resource)
	}
}

// forgetUses forgets the notes of noteUse.
func (l *Lens) forgetUses() {
	for k, before := range l.usesWas {
		if before.resource != 0 {
			l.g.kinds.release(k)
			l.g.resources.release(before.resource)
		}
	}
	clear(l.usesWas)
}

// SetInferred sets whether inferred references make arcs, as they do by default. If not, arcs that
// only inferred references make are neither shown nor followed. In Update.
func (l *Lens) SetInferred(shown bool) {
	if l.excludeInferred == !shown || l.closed {
		return
	}
	l.visitAll()
	l.excludeInferred, l.excludeInferredSince, l.replant = !shown, l.g.rev, true
}

// Select applies the view's decision about an object. In Update.
func (l *Lens) Select(id NodeID, s Selection) {
	n := nodeID(id)
	if n == 0 || l.closed {
		return
	}
	l.g.visits++
	e := l.index.at(n)
	if !s.Member {
		if e != 0 {
			if l.entries.at(e).flags&member != 0 {
				l.g.countArcs(n)
			}
			l.deselect(e)
		}
		return
	}
	if e == 0 {
		e = l.entries.alloc()
		l.entries.at(e).node = n
		l.index.set(n, e)
		l.g.nodes.at(n).pins++
	}
	p := l.entries.at(e)
	if p.flags&member == 0 {
		p.flags |= member
		l.objects[l.g.nodes.at(n).resource]++
		l.g.countArcs(n)
		l.mark(e)
	}
	l.setRoot(e, s.Root)
	if n := l.setPart(e, s); n != 0 {
		l.markChanged(e, n)
	}
}

// setPart stores the content that the view shows of an entry. It returns fresh if that content changed,
// sideChanged if only the rest of the object did.
func (l *Lens) setPart(e entryID, s Selection) uint16 {
	before, parted := l.parts[e]
	p := l.entries.at(e)
	of := l.g.nodes.at(p.node).contentID()
	l.partContent += contentLen(s.Part) - contentLen(before.content)
	if s.Part != nil {
		if s.OtherContent {
			of = contentID{}
		}
		l.parts[e] = part{content: s.Part, hash: s.Hash, of: of}
		switch {
		case !parted || before.hash != s.Hash || computedAtRead(s.Part) && l.mayHaveSentOther(before, p.node):
			return fresh
		case before.of != of:
			return sideChanged
		}
		return 0
	}
	if parted {
		delete(l.parts, e)
	}
	if parted || of.changed > l.rev(p.changed) {
		return fresh
	}
	return 0
}

// mayHaveSentOther reports whether readers may have received a part of another content than the lens decided
// about in the last revision.
func (l *Lens) mayHaveSentOther(before part, id nodeID) bool {
	return before.of.changed != l.g.rev && before.of != l.g.former(id).content
}

func (l *Lens) deselect(e entryID) {
	p := l.entries.at(e)
	if p.flags&member == 0 {
		return
	}
	l.setRoot(e, false)
	p.flags &^= member
	if r := l.g.nodes.at(p.node).resource; l.objects[r] > 1 {
		l.objects[r]--
	} else {
		delete(l.objects, r)
	}
	l.partContent -= contentLen(l.parts[e].content)
	delete(l.parts, e)
	l.mark(e)
}

// contentLen returns the length of the content of a part, 0 for a content that is computed at each
// read.
func contentLen(content any) int64 {
	text, _ := content.([]byte)
	return int64(len(text))
}

// computedAtRead reports whether each read computes a part from the content that the graph has by then.
// Readers may then have received the part of a content that the view has not decided about.
func computedAtRead(part any) bool {
	_, kept := part.([]byte)
	return part != nil && !kept
}

// markChanged marks an entry whose content changed in the open revision (how is fresh), or only the
// rest of the object (sideChanged).
func (l *Lens) markChanged(e entryID, how uint16) {
	p := l.entries.at(e)
	if how == fresh {
		p.changed = l.stamp(l.g.rev)
	}
	p.flags |= how
	l.mark(e)
}

// mark adds an entry to the list that the commit visits, and counts this visit.
func (l *Lens) mark(e entryID) {
	if p := l.entries.at(e); p.flags&dirty == 0 {
		l.g.visits++
		p.flags |= dirty
		l.dirty = append(l.dirty, e)
	}
}

// active reports whether the entry is a vertex of the view, visible or not: a member, under the
// version that the view watches.
func (l *Lens) active(p *entry) bool {
	if p.flags&member == 0 {
		return false
	}
	n := l.g.nodes.at(p.node)
	return l.used(n.kind) == n.resource
}

func (l *Lens) visible(p *entry) bool {
	return l.active(p) && (!l.rooted || p.flags&reached != 0)
}

// used returns the resource under which the view watches a kind, 0 if it does not watch it.
func (l *Lens) used(k kindID) resID { return l.useOf(k).resource }

// useOf returns how the view watches a kind, and the zero value if it does not. useBefore returns the
// same for the last commit.
func (l *Lens) useOf(k kindID) use {
	if int(k) >= len(l.uses) {
		return use{}
	}
	return l.uses[k]
}

func (l *Lens) useBefore(k kindID) use {
	if u, ok := l.usesWas[k]; ok {
		return u
	}
	return l.useOf(k)
}
