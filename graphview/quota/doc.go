// Package quota limits the work that owners cause apart from the handling of events: replays,
// costly expressions, and compilation.
//
// [Processors] gives owners turns on some of the processors, and logs recovered panics. A [Budget]
// charges the expressions of one view or rule to its owner.
//
// The package does not know objects, views or specs.
//
// # Concurrency
//
// Processors and Budget are safe for concurrent use.
package quota
