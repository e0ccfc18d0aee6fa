// Package oracle says what a view's graph must be, and follows the graph that a
// server streams, so that a test can compare the two.
//
// [Build] lists everything afresh and works the graph out the slow, obvious way:
// no watches, no indexes, no increments; roots by repeating until nothing
// changes; references by a table of its own (references.txt) and code for what no table says; of summaries the
// health of a few kinds. It shares no
// code with the engine and must import nothing of it or of the served API: an
// oracle that agrees because it runs the same code knows nothing.
//
// [Client] is the reference client: it applies messages as the contract says
// and, when strict, complains about a server that breaks the rules of order.
//
// [Compare] says how two graphs differ, for a person to read.
//
// Build lists resources one after another, so its graph is right only if the cluster does
// not change meanwhile: a test waits for that, or compares until a deadline. Build does
// not know the rights of a subscriber or a ServiceAccount. It knows the inventories of
// Helm's releases, and the ReferenceRules that it is given. A Client belongs to one
// goroutine.
package oracle
