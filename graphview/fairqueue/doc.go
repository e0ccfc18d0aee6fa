// Package fairqueue shares a limited resource, such as processors, among owners.
//
// A [Queue] limits how many turns are held at the same time, or begin in a second. A caller
// waits in [Queue.Acquire] for a [Turn] and releases it. Owners take turns, however many
// callers each has: if n owners wait, each gets one of the next n turns. The parts of
// an owner, such as its connections, take turns in the same way. The callers of one part get
// their turns in the order in which they came.
//
// A caller that holds a turn must not wait for another turn of the same queue. If all holders
// did that, no turn would ever be released.
//
// The queue counts turns, not the time that they take, so callers divide long work into
// several turns.
//
// # Concurrency
//
// A Queue may be used by any number of goroutines. It starts none, except for a timer while
// the rate makes callers wait. A Turn must be released once.
package fairqueue
