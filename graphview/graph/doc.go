// Package graph holds the live graph of a cluster's objects and references. All views share one
// graph, and a Lens is the part of it that one view shows.
//
// A Graph has nodes (one per object and API version), slots (the names that references point to,
// with or without an object) and arcs, each from a node to a slot. A slot without a node is the
// placeholder of a missing target: when the object appears, the arcs that wait for it already end
// at its slot. A source is a watch. It claims the nodes of the objects that it sees; a node is
// removed with its last claim.
//
// A Lens is one view's picture of the graph: which nodes are members of the view, which members are
// roots, what the roots reach, and the revision in which each node last changed. Lenses share
// nodes, arcs, labels and content, so a further view costs only its entries.
//
// # Revisions
//
// Every Graph.Update commits one revision to each lens that it changes. If one object changes
// thousands of arcs, its Update makes some of them, and the following Updates, which must be empty,
// make the others; see Graph.HasOpenUpdate. The caller may let such an object wait, and other objects
// change between the slices of its arcs; see Urgency. A lens keeps a log with one live element per entry, in
// order of last change. A reader is a Position in the log, not a queue: Lens.Read walks from there
// to the end and yields the net change, so a slow reader skips intermediate versions. A vertex or
// arc that disappears leaves a tombstone until the horizon passes it. A reader whose Position is
// before the horizon gets ErrGone and starts again. A lens does not store when an arc changed. It
// is the latest of the arc's own change, its source's appearance, and its target's appearance or
// disappearance.
//
// # Visibility
//
// In a view with roots, a Walk says which arcs lead from them. An arc leads from an object to what
// the object refers to, or to its owner. Directions follow dependency: down is along references and
// against owner references, to what an object needs and owns; up is the opposite, to what depends
// on the object. Forward, the oldest one, is along every arc, and against the arcs of some types.
//
// Without a depth, the reached entries form a spanning forest: each knows the neighbour that
// supports it. When an arc or a vertex disappears, only the subtree that it supported is cut off.
// Reached entries around the subtree reach it again if they can; the rest is hidden. This is
// decremental reachability by spanning trees with local repair (as in Even and Shiloach 1981,
// without the level structure: batches are small and subtrees shallow). With a depth, a repaired
// path may be too long, so each revision that changes an arc or a vertex of the lens walks from the
// roots again.
//
// # Concurrency
//
// One writer at a time runs inside Graph.Update; methods that say "In Update" may only be called
// there. Lens.Read and the counters may be called from any goroutine at any time: they hold a read
// lock for a bounded piece of work, and their results are immutable. Head, Vertices, Uses and
// Changed take no lock, since the writer may hold it for a whole revision. A lens with many visits
// in one revision is committed outside the graph's lock, and only readers of that lens wait.
//
// The package does not know Kubernetes types, JSON or the time.
package graph
