// Package oracle builds the graph that a view must have, and follows the graph that a
// server streams, so that a test can compare the two.
//
// [Build] lists all resources and builds the graph in the slow, obvious way:
// without watches, indexes and increments. It finds the objects below roots by repetition until nothing
// changes, references by its own table (references.txt) and code for the rest, and, for summaries, the
// health of a few kinds. It shares no
// code with the engine and must import nothing of it or of the served API: an
// oracle with the same code would have the same faults.
//
// [Client] is the reference client: it applies messages by the contract
// and, when strict, reports a server that breaks the rules of order.
//
// [Compare] prints the differences between two graphs.
//
// Build lists resources one after another, so its graph is right only if the cluster does
// not change meanwhile: a test waits for that, or compares until a deadline. Build does
// not know the rights of a subscriber or a ServiceAccount. It knows the inventories of
// Helm's releases, and the ReferenceRules that it is given. A Client belongs to one
// goroutine.
package oracle
