// Package graph is the live graph of a cluster's objects and references, kept once for all views,
// and what each view shows of it.
//
// A Graph holds nodes (one per object and version of its API), slots (the names that references
// point to, with or without an object) and arcs, each from a node to a slot. A slot without a node
// is the placeholder of a missing target: when the object appears, everything that waited for it
// is found there. Nodes are claimed by sources, the watches that see them, and go with the last
// claim.
//
// A Lens is one view's picture of the graph: which nodes are its members, which of them are roots,
// what the roots reach, and in which revision each of that last changed. Lenses share nodes, arcs,
// labels and content; a further view costs only its entries.
//
// # Revisions
//
// Every Graph.Update is one revision of each lens that it changes. Where one object changes
// thousands of arcs, it makes some of them, and Updates of nothing the others; see
// Graph.HasOpenUpdate. A lens keeps a log with one live element per entry, in order of last change; a
// reader is a Position in it and never a queue: Lens.Read walks from there to the end and yields
// the net change, so a slow reader skips intermediate versions. A vertex or arc that goes leaves a
// tombstone until the horizon passes it; a reader whose Position is before the horizon gets
// ErrGone and starts again. That an arc changed is derived, not stored per lens: it is the latest
// of the arc's own change, its source's appearance, and its target's appearance or disappearance.
//
// # Visibility
//
// With roots, a Walk says which way leads from them. Arcs lead from an object to what it refers to
// and to its owner. Directions are in terms of what depends on what: down is along references and
// against owner references, to what an object needs and has; up is the opposite, to what would
// notice a change of it. Forward, which is older, is along every arc, and against those of some
// types.
//
// Without a depth, reached entries form a spanning forest: each knows the neighbour that supports
// it. An arc or vertex that goes takes off only the subtree it supported; the subtree is then
// re-seeded from what is still reached around it, and what stays dark is hidden. The idea is that
// of decremental reachability by spanning trees with local repair (as in Even and Shiloach 1981,
// without the level structure: batches are small and subtrees shallow). With a depth, the
// remaining way may be too long, so each revision that changes an arc or a vertex of the lens
// walks from the roots again.
//
// # Concurrency
//
// One writer at a time, inside Graph.Update; methods that say "in Update" may only be called
// there. Lens.Read and the counters may be called by anyone at any time: they hold a read lock for
// a bounded piece of work, and their results are immutable. Head, Vertices, Uses and Changed take
// no lock, since a lock may take as long as a revision. A lens with many visits in one revision is
// committed outside the graph's lock, and only readers of that lens wait.
//
// The package knows no Kubernetes types, no JSON and no time.
package graph
