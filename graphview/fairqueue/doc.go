// Package fairqueue shares processors and answers among tenants.
//
// A [Queue] bounds how much is done at the same time, or in a second. Callers wait in
// [Queue.Acquire] for a [Turn], and release it. Turns go to one owner after the other,
// however many callers of an owner wait: among n owners, an owner that waits has one of
// the next n turns. The parts of an owner, such as its connections, take turns in the same
// way. Callers of one part have their turns in the order in which they came.
//
// [Interactive] turns come before [Background] ones, but for one in four: a constant
// flow of changes does not stop what only refreshes.
//
// A caller that holds a turn must not wait for another one of the same queue: all turns
// may be held by callers that do the same.
//
// The package does not know what a turn is used for. It counts turns, not the time that
// they take: callers divide long work into turns.
//
// # Concurrency
//
// A Queue may be used by any number of goroutines, and has none of its own but a timer
// while the rate makes a caller wait. A Turn is released once.
package fairqueue
