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
	was     map[nodeID]formerNode // of nodes whose UID or content changed
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

	cleanups    []rest
	openUpdates []rest
	departing   map[nodeID]*departure // objects that go when their arcs have
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
		was:       make(map[nodeID]formerNode),
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

// kindFor is the id of a kind.
func (g *Graph) kindFor(kind Kind) kindID {
	id := g.kinds.intern(kind)
	for len(g.scopes) < len(g.kinds.values) {
		g.scopes, g.slotsOf = append(g.scopes, ScopeUnknown), append(g.slotsOf, 0)
	}
	return id
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
