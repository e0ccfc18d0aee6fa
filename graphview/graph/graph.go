package graph

import (
	"strings"
	"sync"

	"graphview.dev/graphview/budget"
)

// clusterSpace is the id of the empty namespace: that of cluster-scoped objects.
const clusterSpace spaceID = 1

// Graph is the shared graph. Its zero value is not usable; see New.
type Graph struct {
	mu sync.RWMutex

	// rev is the number of the open revision: larger than all before it. Stamps
	// reach back as far as span.
	rev, span uint64

	kinds     table[kindID, Kind]
	resources table[resID, Resource] // that sources are of; none is dropped
	spaces    table[spaceID, string]
	paths     table[fieldID, [maxFields]string]
	pathLists [][]string
	onePath   map[string]fieldID // of the sets of one
	scopes    []Scope            // by kind

	nodes  slab[nodeID, node]
	slots  slab[slotID, slot]
	arcs   slab[arcID, arc]
	names  names
	claims map[nodeID][]SourceID // beyond the first
	rules  map[nodeID]uint64     // Object.Rules, but 0
	lapses map[nodeID]lapse      // few: of objects that may not stay as they are
	labels labelSets

	selection selection
	// namespaces is NamespaceKind; byNamespace are the nodes whose selectors ask for
	// labels of namespaces.
	namespaces  kindID
	byNamespace map[nodeID]struct{}

	// Bounds of what selectors may make, and who is beyond.
	mostOfObject, mostOfNamespace int
	mostRequirements              int
	loads                         map[spaceID]*load
	dropped                       map[nodeID]*holder
	told                          map[nodeID]*budget.Bound // as of the last revision
	exceedances                   []Exceedance

	sources map[SourceID]*source
	lastID  SourceID
	lenses  map[*Lens]struct{}

	// What the open revision changed, for the lenses to look at.
	changes []arcChange
	uidWas  map[nodeID]uint32
	noted   []arcID              // that are in the logs of hubs
	review  map[spaceID]struct{} // whose holders may exceed a bound, or no longer
	judged  map[nodeID]struct{}  // holders that began or ceased to

	chores []chore
	// These are the constants, but in tests.
	hubSize, sliceChanges, fewSelectors, postingsLeast int

	// Scratch space of setNames and of matching.
	wanted  []wanted
	stale   []arcID
	matched []*selector
}

type source struct {
	kind     kindID
	resource resID
	lenses   map[*Lens]struct{} // that watch it
}

// New returns an empty graph.
func New() *Graph {
	g := &Graph{
		rev:         1,
		span:        maxSpan,
		claims:      make(map[nodeID][]SourceID),
		rules:       make(map[nodeID]uint64),
		lapses:      make(map[nodeID]lapse),
		labels:      make(labelSets),
		selection:   make(selection),
		byNamespace: make(map[nodeID]struct{}),
		sources:     make(map[SourceID]*source),
		loads:       make(map[spaceID]*load),
		dropped:     make(map[nodeID]*holder),
		told:        make(map[nodeID]*budget.Bound),
		review:      make(map[spaceID]struct{}),
		judged:      make(map[nodeID]struct{}),

		hubSize:          hubSize,
		sliceChanges:     sliceChanges,
		fewSelectors:     fewSelectors,
		postingsLeast:    postingsLeast,
		mostOfObject:     int(arcsOfObject.Limit()),
		mostOfNamespace:  int(arcsOfNamespace.Limit()),
		mostRequirements: int(requirementsOfObject.Limit()),

		lenses:  make(map[*Lens]struct{}),
		uidWas:  make(map[nodeID]uint32),
		onePath: make(map[string]fieldID),
	}
	g.kinds.clone = func(k Kind) Kind { return Kind{strings.Clone(k.Group), strings.Clone(k.Kind)} }
	g.spaces.clone = strings.Clone
	g.paths.clone = func(set [maxFields]string) [maxFields]string {
		for i, path := range set {
			set[i] = strings.Clone(path)
		}
		return set
	}
	g.spaces.hold(g.spaces.intern(""))
	g.namespaces = g.kindFor(NamespaceKind)
	g.kinds.hold(g.namespaces)
	return g
}

// Object is one version of an object, as a source sees it.
type Object struct {
	Namespace, Name, UID string
	// Version orders the versions of one object; 0 if unknown. A source that
	// lags behind another does not take a newer version back.
	Version uint64
	// Hash is equal for equal content. Blank: nothing of the content is shown, so
	// that a change of it is none to a lens.
	Hash   uint64
	Blank  bool
	Labels map[string]string
	// References, of which several may have one target. Rules is equal where they
	// were found by the same rules; most objects have 0.
	References []Reference
	Rules      uint64
	// Class says how the object is, for Counts. LapsesAt is when it becomes
	// LapsesTo unless the object changes before; 0 for never. See Graph.Lapse.
	Class, LapsesTo Class
	LapsesAt        int64
	// Payload is the content, for the reader; the graph does not look at it.
	Payload any
}

// Update runs fn as the graph's one writer and then makes all that it did one
// revision of every lens that it concerns. It returns those.
func (g *Graph) Update(fn func()) []*Lens {
	g.mu.Lock()
	defer g.mu.Unlock()
	fn()
	g.work()
	g.enforce()
	return g.commit()
}

// AddSource announces a source of objects of one kind under one resource. In
// Update.
func (g *Graph) AddSource(kind Kind, resource Resource, scope Scope) SourceID {
	g.lastID++
	k := g.kindFor(kind)
	g.kinds.hold(k)
	g.sources[g.lastID] = &source{kind: k, resource: g.resources.intern(resource), lenses: make(map[*Lens]struct{})}
	g.setScope(k, scope)
	return g.lastID
}

// RemoveSource takes away everything that only the source claims, in slices; see
// Pending. In Update.
func (g *Graph) RemoveSource(id SourceID) {
	src := g.sources[id]
	if src == nil {
		return
	}
	for l := range src.lenses {
		l.Unwatch(id)
	}
	delete(g.sources, id)
	g.chores = append(g.chores, &unclaiming{g: g, id: id, of: *src})
}

// Set tells the graph what a source sees of an object. The id it returns names
// the object in Lens.Select until Update returns. In Update.
func (g *Graph) Set(id SourceID, o *Object) NodeID {
	src := g.sources[id]
	if src == nil {
		return 0 // it was removed
	}
	at := g.slotFor(src.kind, g.spaces.intern(o.Namespace), o.Name)
	n := g.nodeAt(at, src.resource)
	if n == 0 {
		n = g.nodes.alloc()
		*g.nodes.at(n) = node{slot: at, kind: g.slots.at(at).kind, resource: src.resource, sibling: g.slots.at(at).node}
		g.slots.at(at).node = n
	}
	p := g.nodes.at(n)
	known := p.alive()
	before := g.tallyOf(at)
	g.addClaim(n, id)
	lags := len(g.claims[n]) > 0 && p.version > o.Version && o.Version != 0
	if known && (lags || p.version == o.Version && p.hash == o.Hash && g.rules[n] == o.Rules) {
		return NodeID(n)
	}
	if uid := uidHash(o.UID); uid != p.uid {
		g.setUID(n, uid)
	}
	if !known || p.hash != o.Hash && !o.Blank {
		p.changed = g.rev
	}
	p.version, p.hash, p.payload = o.Version, o.Hash, o.Payload
	g.setRules(n, o.Rules)
	g.setClass(n, o.Class, lapse{o.LapsesAt, o.LapsesTo})

	labels := g.labels.acquire(o.Labels)
	relabel := !known || labels != p.labels
	if relabel {
		g.repost(n, p.labels, labels)
	}
	g.labels.release(p.labels)
	p.labels = labels
	if !known {
		g.enter(at)
	}
	g.recount(at, before)
	g.setNames(n, o.References)
	g.setSelectors(n, o.References)
	if relabel {
		g.relabelled(at)
	}
	return NodeID(n)
}

func (g *Graph) setRules(id nodeID, rules uint64) {
	switch {
	case rules != 0:
		g.rules[id] = rules
	case len(g.rules) > 0:
		delete(g.rules, id)
	}
}

// Find returns the id of an object that a source sees, 0 if it sees none of
// that name. In Update.
func (g *Graph) Find(id SourceID, namespace, name string) NodeID {
	src := g.sources[id]
	if src == nil {
		return 0
	}
	at, _ := g.findSlot(src.kind, g.spaces.find(namespace), name)
	if at == 0 {
		return 0
	}
	if n := g.nodeAt(at, src.resource); n != 0 && g.claimed(n, id) {
		return NodeID(n)
	}
	return 0
}

// Remove tells the graph that a source no longer sees an object. In Update.
func (g *Graph) Remove(id SourceID, namespace, name string) {
	if n := g.Find(id, namespace, name); n != 0 {
		g.unclaim(nodeID(n), id)
	}
}

func (g *Graph) unclaim(id nodeID, source SourceID) {
	n := g.nodes.at(id)
	before := g.tallyOf(n.slot)
	g.removeClaim(id, source)
	switch src := g.sources[source]; {
	case n.alive() && src != nil:
		for l := range src.lenses {
			l.unclaimed(id, source)
		}
	case !n.alive() && n.pins > 0:
		for l := range g.lenses {
			if e := l.index.at(id); e != 0 {
				l.deselect(e)
			}
		}
	}
	if n.alive() {
		return
	}
	g.setUID(id, 0)
	g.setHolder(id, nil)
	delete(g.byNamespace, id)
	for a := n.out; a != 0; a = g.nodes.at(id).out {
		g.removeArc(a)
	}
	g.repost(id, n.labels, nil)
	g.labels.release(n.labels)
	n.labels, n.payload, n.hash, n.version = nil, nil, 0, 0
	g.setRules(id, 0)
	delete(g.lapses, id)
	at := n.slot
	if !g.hasLiveNode(at) {
		g.leave(at)
	}
	g.recount(at, before)
	g.relabelled(at)
	g.dropNode(id)
}

// hasLiveNode tells whether the slot has a live node.
func (g *Graph) hasLiveNode(id slotID) bool {
	for n := g.slots.at(id).node; n != 0; n = g.nodes.at(n).sibling {
		if g.nodes.at(n).alive() {
			return true
		}
	}
	return false
}

// setUID changes a node's UID, and with it which owner references it satisfies.
func (g *Graph) setUID(id nodeID, uid uint32) {
	n := g.nodes.at(id)
	if _, ok := g.uidWas[id]; !ok {
		g.uidWas[id] = n.uid
	}
	n.uid = uid
	for a := g.slots.at(n.slot).in; a != 0; a = g.arcs.at(a).nextIn {
		if g.arcs.at(a).uid != 0 {
			g.noteArc(a)
		}
	}
}

// setScope notes whether a kind lives in namespaces. References to it whose scope
// was unknown find their targets.
func (g *Graph) setScope(kind kindID, scope Scope) {
	if g.scopes[kind] == scope {
		return
	}
	g.scopes[kind] = scope
	if scope != ScopeCluster {
		return
	}
	var misplaced []arcID
	for _, c := range g.names.cells {
		if s := g.slots.at(c.slot); s.kind == kind && s.space != clusterSpace {
			for a := s.in; a != 0; a = g.arcs.at(a).nextIn {
				misplaced = append(misplaced, a)
			}
		}
	}
	for _, id := range misplaced {
		g.rehome(id)
	}
}

// rehome moves an arc to the cluster-scoped slot of its target's name.
func (g *Graph) rehome(id arcID) {
	a := *g.arcs.at(id)
	g.paths.hold(a.namedBy)
	defer g.paths.release(a.namedBy)
	s := g.slots.at(a.to)
	to := g.slotFor(s.kind, clusterSpace, s.name)
	g.removeArc(id)
	other := g.findArc(a.from, to, a.typ)
	if other == 0 {
		other = g.addArc(a.from, to, a.typ)
	}
	b := g.touchArc(other)
	b.flags |= a.flags & (named | required | controller | block)
	if b.uid == 0 {
		b.uid = a.uid
	}
	if b.namedBy == 0 {
		g.setPaths(b, a.namedBy, b.fields)
	}
	g.setFields(other)
}

// kindFor is the id of a kind.
func (g *Graph) kindFor(kind Kind) kindID {
	id := g.kinds.intern(kind)
	for len(g.scopes) < len(g.kinds.values) {
		g.scopes = append(g.scopes, ScopeUnknown)
	}
	return id
}

// sweep drops the kinds, namespaces and paths that nobody speaks of any more.
func (g *Graph) sweep() {
	g.kinds.sweep(func(id kindID) { g.scopes[id] = ScopeUnknown })
	g.spaces.sweep(nil)
	g.paths.sweep(g.dropFields)
}

// commit makes the open revision one of each lens, and opens the next.
func (g *Graph) commit() []*Lens {
	var revised []*Lens
	for l := range g.lenses {
		if g.rev-l.base > g.span {
			l.rebase()
		}
		if l.commit() {
			revised = append(revised, l)
		}
	}
	for _, id := range g.noted {
		g.arcs.at(id).flags &^= noted
	}
	g.noted = g.noted[:0]
	for i := range g.changes {
		c := &g.changes[i]
		if a := g.arcs.at(c.id); a.flags&gone != 0 {
			g.arcs.release(c.id)
		} else {
			a.flags &^= recorded
		}
		g.slots.at(c.to).pins--
		g.nodes.at(c.from).pins--
		to, from := c.to, c.from
		g.dropSlot(to)
		g.dropNode(from)
	}
	clear(g.changes)
	g.changes = g.changes[:0]
	clear(g.uidWas)
	g.sweep()
	g.rev++
	for l := range g.lenses {
		g.rev = max(g.rev, l.head+1)
	}
	return revised
}

// Size is what a graph holds, for tests and metrics.
type Size struct {
	Nodes, Slots, Arcs, Labels, Lenses int
	// Kinds, Namespaces and Paths that objects speak of.
	Kinds, Namespaces, Paths int
}

// Size counts what the graph holds, dead nodes and placeholders included.
func (g *Graph) Size() Size {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return Size{
		Nodes:  g.nodes.len(),
		Slots:  g.names.used,
		Arcs:   g.arcs.len(),
		Labels: len(g.labels),
		Lenses: len(g.lenses),
		// Without those that every graph knows.
		Kinds:      g.kinds.len() - 1,
		Namespaces: g.spaces.len() - 1,
		Paths:      g.paths.len(),
	}
}
