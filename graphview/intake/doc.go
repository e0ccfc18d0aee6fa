// Package intake turns what watches bring into events for the graph.
//
// A [Feed] is the handler of one watch and a source of the graph. For each object it finds the
// references and the health (object_references.go), asks the [Tap] of each consumer for a
// [Verdict], and sends the writer one event. A [Judge] decides: whether the object is in the
// consumer's view, whether it is a root, and which part of it the view shows.
//
// A consumer whose expressions are costly decides in its own goroutine (evaluator.go), so that no
// other consumer of the watch waits for it. A consumer that begins, or whose expressions change,
// replays the objects that a watch retains (replay.go). Objects are read again when the rules of
// their kind change (reread.go).
//
// The package knows a [Consumer] by its lens, its warnings and a way to wake it: no views, no
// specs beyond compiled programs, no plan of watches, no clients.
//
// # Concurrency
//
// The handlers run in the goroutines of watches, one object of a watch at a time. [Intake.Run]
// reads objects again, and each Evaluator with a backlog has a goroutine, which [Intake.Wait]
// joins. Fields that only the writer uses say so. The locks of Index, namespaceSet, Evaluator and
// of the stale objects are leaves.
package intake
