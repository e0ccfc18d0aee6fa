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
	// mu keeps readers from what is written; writing is held by the writer, also while it
	// only reads, and for a moment by readers who find no other one; see rlock. Lock order:
	// writing, mu.
	mu, writing sync.RWMutex

	locked, unlocking func()                                    // see ObserveLock
	changed           func(l *Lens, head uint64) (publish bool) // nil: each change is published

	// rev is the number of the open revision: larger than all before it. Stamps
	// reach back as far as span.
	rev, span uint64

	kinds     table[kindID, Kind]
	resources table[resID, Resource]
	spaces    table[spaceID, string]
	paths     table[fieldID, [maxFields]string]
	pathLists [][]string
	onePath   map[string]fieldID // of the sets of one
	scopes    []Scope            // by kind
	slotsOf   []int              // by kind

	nodes      slab[nodeID, node]
	slots      slab[slotID, slot]
	arcs       slab[arcID, arc]
	names      names
	claims     map[nodeID][]SourceID // beyond the first
	rules      map[nodeID]uint64     // Object.Rules, but 0
	lapses     map[nodeID]lapse      // few: of objects that may not stay as they are
	excuses    map[nodeID]Excuse     // few: of objects that their controller replaced
	sideHashes map[nodeID]uint64     // Object.SideHash, but 0
	labels     labelSets

	selection selection
	// namespaces is NamespaceKind; byNamespace are the nodes whose selectors ask for
	// labels of namespaces, with the kinds of what these select.
	namespaces  kindID
	byNamespace map[nodeID]map[kindID]struct{}

	// payer is charged for references.
	payer          Payer
	namespaceUses  map[spaceID]*namespaceUse
	dropped        map[nodeID]*holder
	reportedBounds map[nodeID]*budget.Bound // as of the last revision
	named          map[spaceID]*namespaceNames
	overLimit      map[nodeID]namesOverLimit
	// misplaced are the objects that refer to a kind in a namespace though it is cluster-scoped by
	// now, or the reverse. The value reports whether RetryReferences has returned them.
	misplaced map[nodeID]bool

	exceedances []Exceedance
	walks       []Walked

	sources map[SourceID]*source
	lastID  SourceID
	lenses  map[*Lens]struct{}
	// selective are the kinds that a lens does not select all objects of, or did not.
	selective map[kindID]struct{}

	// Changes of the open revision, for the commit of lenses.
	changes []arcChange
	uidWas  map[nodeID]uint32
	existed map[existence]existed // of the kinds that lenses do not select all of
	noted   []arcID               // that are in the logs of hubs
	review  map[spaceID]struct{}  // whose holders may exceed a bound, or no longer
	judged  map[nodeID]struct{}   // objects that began or ceased to
	unpaid  []spaceID             // whose references by name changed

	// visits counts what the open revision has looked at, and what its commit has to
	// look at for what it did.
	visits int
	// whole is how many of these are of lenses that are looked at as a whole, and so
	// committed outside the lock.
	whole     int
	unlocked  bool // lenses are being committed outside the lock
	unsettled unsettled

	cleanups        []cleanup
	selectorUpdates []*selectorUpdate
	departing       map[nodeID]*departure // objects that go when their arcs have
	// These are the constants, but in tests.
	hubSize, sliceChanges, fewSelectors, postingsLeast, fewEntries int
	mostRequirements, arcBytes, placeholderBytes                   int

	// Scratch space of setNames, of Lens.repair and of matching.
	desiredArcs []desiredArc
	without     []entryID
	stale       []arcID
	matched     []*selector
}

type source struct {
	kind     kindID
	resource resID
	lenses   map[*Lens]struct{} // that watch it
}

// New returns an empty graph. A nil Payer pays for all.
func New(payer Payer) *Graph {
	if payer == nil {
		payer = unlimited{}
	}
	g := &Graph{
		payer:          payer,
		rev:            1,
		span:           maxSpan,
		claims:         make(map[nodeID][]SourceID),
		rules:          make(map[nodeID]uint64),
		lapses:         make(map[nodeID]lapse),
		excuses:        make(map[nodeID]Excuse),
		sideHashes:     make(map[nodeID]uint64),
		labels:         make(labelSets),
		selection:      make(selection),
		byNamespace:    make(map[nodeID]map[kindID]struct{}),
		sources:        make(map[SourceID]*source),
		namespaceUses:  make(map[spaceID]*namespaceUse),
		dropped:        make(map[nodeID]*holder),
		reportedBounds: make(map[nodeID]*budget.Bound),
		review:         make(map[spaceID]struct{}),
		judged:         make(map[nodeID]struct{}),
		named:          make(map[spaceID]*namespaceNames),
		overLimit:      make(map[nodeID]namesOverLimit),
		misplaced:      make(map[nodeID]bool),
		departing:      make(map[nodeID]*departure),

		hubSize:          hubSize,
		sliceChanges:     sliceChanges,
		fewSelectors:     fewSelectors,
		fewEntries:       fewEntries,
		postingsLeast:    postingsLeast,
		mostRequirements: int(requirementsOfObject.Limit()),
		arcBytes:         arcBytes,
		placeholderBytes: placeholderBytes,

		lenses:    make(map[*Lens]struct{}),
		uidWas:    make(map[nodeID]uint32),
		existed:   make(map[existence]existed),
		selective: make(map[kindID]struct{}),
		onePath:   make(map[string]fieldID),
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

// Update runs fn as the graph's one writer and then commits all its changes as one revision. It
// returns the lenses that changed.
func (g *Graph) Update(fn func()) []*Lens {
	g.writing.Lock()
	defer g.writing.Unlock()
	revised, late := g.revise(fn)
	if len(late) > 0 {
		revised = append(revised, g.commitUnlocked(late)...)
	}
	return revised
}

// revise runs fn and commits the lenses with few visits. It returns the lenses that changed, and
// the lenses for commitUnlocked.
func (g *Graph) revise(fn func()) (revised, late []*Lens) {
	g.lock()
	defer g.unlock()
	g.visits, g.whole = 0, 0
	clear(g.walks)
	g.walks = g.walks[:0]
	fn()
	g.work()
	g.updateSelectors()
	g.exceedances = nil
	if g.HasOpenUpdate() {
		g.enforceMeanwhile()
	} else {
		g.enforce()
	}
	return g.commitLenses()
}

// Visits is about how many elements the open revision visits, with its commit, which visits each
// changed arc for each lens. It measures how long the graph is locked, whatever else the machine
// does. In Update, and until the next one.
func (g *Graph) Visits() int { return g.visits + len(g.changes)*len(g.lenses) }

// AddSource announces a source of objects of one kind under one resource. In
// Update.
func (g *Graph) AddSource(kind Kind, resource Resource, scope Scope) SourceID {
	g.lastID++
	k := g.kindFor(kind)
	g.kinds.hold(k)
	r := g.resources.intern(resource)
	g.resources.hold(r)
	g.sources[g.lastID] = &source{kind: k, resource: r, lenses: make(map[*Lens]struct{})}
	g.setScope(k, scope)
	return g.lastID
}

// RemoveSource removes everything that only the source claims, in slices; see Pending. In Update.
func (g *Graph) RemoveSource(id SourceID) {
	src := g.sources[id]
	if src == nil {
		return
	}
	for l := range src.lenses {
		l.Unwatch(id)
	}
	delete(g.sources, id)
	g.cleanups = append(g.cleanups, &removeSource{g: g, id: id, of: *src})
}

// kindFor is the id of a kind.
func (g *Graph) kindFor(kind Kind) kindID {
	id := g.kinds.intern(kind)
	for len(g.scopes) < len(g.kinds.values) {
		g.scopes, g.slotsOf = append(g.scopes, ScopeUnknown), append(g.slotsOf, 0)
	}
	return id
}

// sweep drops the kinds, resources, namespaces and paths that are no longer held.
func (g *Graph) sweep() {
	g.kinds.sweep(func(id kindID) {
		g.scopes[id] = ScopeUnknown
		delete(g.selective, id)
	})
	g.resources.sweep(nil)
	g.spaces.sweep(nil)
	g.paths.sweep(g.dropFields)
}

// commitLenses commits the open revision to each lens and opens the next revision, unless lenses are
// left for commitUnlocked.
func (g *Graph) commitLenses() (revised, late []*Lens) {
	for l := range g.lenses {
		// Walks and namespaces are only counted as lenses are committed.
		tooMuch := g.Visits()-g.whole > 2*sliceVisits*g.sliceChanges
		switch {
		case l.commitsUnlocked(tooMuch):
			ended := make(chan struct{})
			l.committing.Store(&ended)
			late = append(late, l)
		case g.commitLens(l):
			revised = append(revised, l)
		}
	}
	if len(late) == 0 {
		for i := range g.changes {
			g.settleChange(i)
		}
		g.finish()
	}
	return revised, late
}

// commitLens commits the open revision to a lens, and reports whether that changed.
func (g *Graph) commitLens(l *Lens) bool {
	if g.rev-l.base > g.span {
		l.rebase()
	}
	if !l.commit() {
		return false
	}
	if g.changed == nil || g.changed(l, l.head) {
		l.Publish()
	}
	return true
}

// settleChange releases a changed arc after all lenses are committed.
func (g *Graph) settleChange(i int) {
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

// finish opens the next revision.
func (g *Graph) finish() {
	for _, id := range g.noted {
		g.arcs.at(id).flags &^= noted
	}
	g.noted = g.noted[:0]
	g.visits = g.Visits()
	clear(g.changes)
	g.changes = g.changes[:0]
	clear(g.uidWas)
	g.forgetExistence()
	g.sweep()
	g.rev++
	for l := range g.lenses {
		g.rev = max(g.rev, l.head+1)
	}
}

// Size is what a graph holds, for tests and metrics.
type Size struct {
	Nodes, Slots, Arcs, Labels, Lenses int
	// Kinds, Namespaces and Paths that objects name, and Resources that sources, nodes and
	// lenses are of.
	Kinds, Resources, Namespaces, Paths int
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
		// Without the empty namespace and NamespaceKind.
		Kinds:      g.kinds.len() - 1,
		Resources:  g.resources.len(),
		Namespaces: g.spaces.len() - 1,
		Paths:      g.paths.len(),
	}
}
