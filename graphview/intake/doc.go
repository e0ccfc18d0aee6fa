// Package intake turns the objects and changes of watches into events for the graph.
//
// A [Feed] is the handler of one watch and a source of the graph. For each object it finds the
// references and the health (object_references.go), asks the [Tap] of each consumer for a
// [Verdict], and sends one event to the writer. The verdict comes from a [Judge]: whether the object
// is in the consumer's view, whether it is a root, and which part of it the view shows.
//
// Costly expressions of a consumer are evaluated in a goroutine of the consumer (evaluator.go), so
// that no other consumer of the watch waits for them. A consumer that begins, or whose expressions
// change, replays the objects that a watch retains (replay.go). When the rules of a kind change, its
// objects are reread (reread.go).
//
// Consumers lease watches with [Intake.Acquire] (lease.go), which makes a Feed for a new watch.
//
// The package knows the lens and the warnings of a consumer, and a way to wake it. It does not know
// views, specs apart from compiled programs, plans of watches, or clients.
//
// # Concurrency
//
// The handlers run in the goroutines of watches, one object of a watch at a time. [Intake.Run]
// rereads objects. Each Evaluator with a backlog has a goroutine, and [Intake.Wait] joins these.
// Comments mark the fields that only the writer uses. A goroutine that holds the lock of an Index,
// a namespaceSet, an Evaluator or the stale objects takes no other lock. The lock of the feeds comes before
// that of a watch.Manager.
package intake
