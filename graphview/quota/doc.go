// Package quota limits the work that owners cause apart from the handling of events: replays,
// costly expressions, and compilation.
//
// [Processors] gives owners turns on some of the processors, records work in the journal of the
// quarantine, and logs recovered panics. A [Budget] charges the expressions of one view or rule to
// its owner.
//
// The package does not know objects, views or specs.
//
// # Concurrency
//
// Processors and Budget are safe for concurrent use. A goroutine takes a turn before it takes the
// turn of a suspect.
package quota
