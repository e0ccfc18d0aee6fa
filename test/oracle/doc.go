// Package oracle says what a view's graph must be, and follows the graph that a
// server streams, so that a test can compare the two.
//
// [Build] lists everything afresh and works the graph out the slow, obvious way:
// no watches, no indexes, no increments; roots by repeating until nothing
// changes; every kind's references by code that spells them out; of summaries the
// health of a few kinds. It shares no
// code with the engine and must import nothing of it or of the served API: an
// oracle that agrees because it runs the same code knows nothing.
//
// [Client] is the reference client: it applies messages as the contract says
// and, when strict, complains about a server that breaks the rules of order.
//
// [Compare] says how two graphs differ, for a person to read.
//
// Lists of different resources are taken one after another, so Build is right
// about a cluster that rests; a test waits for that, or compares until a deadline.
// Build knows neither a subscriber's nor a ServiceAccount's rights, of
// inventories only Helm's releases, and of ReferenceRules those that it is given. A
// Client belongs to one goroutine.
package oracle
