// Package quota limits the work that owners cause beside the handling of events: replays,
// expressions that cost much, and compilation.
//
// [Processors] gives owners turns on a part of the processors, records work in the journal of the
// quarantine, and logs recovered panics. A [Budget] charges the expressions of one author to their
// owner.
//
// The package does not know what the work is for: no objects, views or specs.
//
// # Concurrency
//
// Processors and Budget may be used by many goroutines. Locks are in this order: a turn, then the
// turn of a suspect.
package quota
