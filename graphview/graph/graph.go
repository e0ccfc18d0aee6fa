package graph

import (
	"strings"
	"sync"

	"graphview.dev/graphview/budget"
)

// clusterSpace is the id of the empty namespace, which cluster-scoped objects are in.
const clusterSpace spaceID = 1

// Graph is the shared graph. Its zero value is not usable; see New.
type Graph struct {
	// mu protects the graph. held reports whether the writer has locked it; only the writer uses held.
	mu   sync.RWMutex
	held bool

	locked, unlocking func()                                    // see ObserveLock
	observation       *observation                              // nil: revisions are not observed
	changed           func(l *Lens, head uint64) (publish bool) // nil: each change is published

	// rev is the number of the open revision, larger than all before it. span is the number of
	// revisions that stamps reach back.
	rev, span uint64

	kinds     table[kindID, Kind]
	resources table[resID, Resource]
	spaces    table[spaceID, string]
	paths     table[fieldID, [maxFields]string]
	pathLists [][]string
	// pathPayers are the namespaces that pay for the sets, by id; 0 for none.
	pathPayers []spaceID
	onePath    map[string]fieldID // of sets with one path
	scopes     []Scope            // by kind
	slotsOf    []int              // by kind

	nodes      slab[nodeID, node]
	slots      slab[slotID, slot]
	arcs       slab[arcID, arc]
	names      map[uint32]slotID     // the first slot of each hash
	claims     map[nodeID][]SourceID // all but node.claim
	alsoNamed  map[arcEnds]fieldID   // namedBy of the few arcs that references and selectors make
	rules      map[nodeID]uint64     // Object.Rules, unless 0
	lapses     map[nodeID]lapse      // few: of objects whose class changes by itself
	excuses    map[nodeID]Excuse     // few; see Object.Excuse
	sideHashes map[nodeID]uint64     // Object.SideHash, unless 0
	labels     labelSets

	selection  selection
	namespaces kindID // NamespaceKind
	// byNamespace has the nodes whose selectors select by labels of namespaces, and labelled counts the arcs that these
	// labels make, by the kind of their targets.
	byNamespace map[nodeID]struct{}
	labelled    map[kindID]int

	// payer is charged for references.
	payer          Payer
	namespaceUses  map[spaceID]*namespaceUse
	reportedBounds map[nodeID]*budget.Bound // as of the last revision
	named          map[spaceID]*namespaceNames
	leftOut        map[nodeID]leftOut
	// misplaced are the objects of the next Misplaced.
	misplaced []Unread
	// texts is the memory of the selectors of nodes.
	texts map[nodeID]int

	exceedances []Exceedance
	walks       []Walked

	sources map[SourceID]*source
	lastID  SourceID
	lenses  []*Lens // in the order in which they were made
	owners  map[budget.Owner]*lensOwner
	// selective are the kinds from which some lens selects, or selected, only a part of the objects.
	selective map[kindID]struct{}

	// open has the changes of the open revision, kept those of earlier ones that late lenses lack, the oldest
	// first. merged are the changes that the last late lens lacked.
	open   changeSet
	kept   []changeSet
	merged *changeSet
	// left are the lenses that the open revision still has to commit; after it, the late ones. ended is
	// the lateness of lenses that it committed.
	left  []*Lens
	ended []*lateness
	// committing is the lens that is being committed, and lacked are the changes since its last commit.
	committing *Lens
	lacked     *changeSet
	// spent are the visits of commits in the open revision. turn is the use of the owner with the
	// last turn before that; see lensOwner.
	spent     int
	turn      uint64
	unsettled unsettled

	review       map[spaceID]struct{} // namespaces with another number of arcs that selectors make
	boundChanged map[nodeID]struct{}  // objects that may have begun or ceased to exceed a bound
	unpaid       []spaceID            // namespaces whose references by name changed

	// visits counts the elements that the open revision has visited, and the elements that its commit
	// has to visit.
	visits int

	cleanups    []rest
	removals    removeSources
	lapsing     lapsing
	openUpdates []rest
	shared      *selectorUpdate // the cleanup that makes arcs of an Unhurried object, nil for none
	// departing are the objects that are removed after their arcs, with the source that no longer sees them.
	departing map[nodeID]SourceID
	// These have the values of the constants and bounds, except in tests.
	sliceChanges, commitVisits, arcsAtOnce       int
	largeChange                                  int
	mostRequirements, arcBytes, placeholderBytes int

	// Scratch space of setNames, of Lens.repair and of matching.
	desiredArcs []desiredArc
	searched    []entryID
	stale       []arcID
	matched     []*selector
	outOf       outOf
	// selecting counts the calls of relabelled.
	selecting uint64
}

type source struct {
	kind     kindID
	resource resID
	lenses   map[*Lens]struct{} // that watch it
}

// New returns an empty graph. If payer is nil, references are not charged.
func New(payer Payer) *Graph {
	if payer == nil {
		payer = unlimited{}
	}
	g := &Graph{
		payer:          payer,
		rev:            1,
		span:           maxSpan,
		names:          make(map[uint32]slotID),
		claims:         make(map[nodeID][]SourceID),
		alsoNamed:      make(map[arcEnds]fieldID),
		rules:          make(map[nodeID]uint64),
		lapses:         make(map[nodeID]lapse),
		excuses:        make(map[nodeID]Excuse),
		sideHashes:     make(map[nodeID]uint64),
		labels:         make(labelSets),
		selection:      make(selection),
		byNamespace:    make(map[nodeID]struct{}),
		labelled:       make(map[kindID]int),
		sources:        make(map[SourceID]*source),
		namespaceUses:  make(map[spaceID]*namespaceUse),
		reportedBounds: make(map[nodeID]*budget.Bound),
		review:         make(map[spaceID]struct{}),
		boundChanged:   make(map[nodeID]struct{}),
		named:          make(map[spaceID]*namespaceNames),
		leftOut:        make(map[nodeID]leftOut),
		texts:          make(map[nodeID]int),
		departing:      make(map[nodeID]SourceID),

		sliceChanges:     sliceChanges,
		commitVisits:     commitVisits,
		arcsAtOnce:       arcsAtOnce,
		largeChange:      largeChange,
		mostRequirements: int(requirementsOfObject.Limit()),
		arcBytes:         arcBytes,
		placeholderBytes: placeholderBytes,

		owners:    make(map[budget.Owner]*lensOwner),
		open:      newChangeSet(1),
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

// kindFor returns the id of a kind.
func (g *Graph) kindFor(kind Kind) kindID {
	id := g.kinds.intern(kind)
	for len(g.scopes) < len(g.kinds.values) {
		g.scopes, g.slotsOf = append(g.scopes, ScopeUnknown), append(g.slotsOf, 0)
	}
	return id
}

// Size is the number of elements of a graph, for tests and metrics.
type Size struct {
	Nodes, Slots, Arcs, Labels, Lenses int
	// Kinds, Namespaces and Paths that objects name; Resources of sources, nodes and lenses.
	Kinds, Resources, Namespaces, Paths int
}

// Size counts the nodes and arcs of the graph, dead nodes and placeholders included.
func (g *Graph) Size() Size {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return Size{
		Nodes:  g.nodes.len(),
		Slots:  g.slots.len(),
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
