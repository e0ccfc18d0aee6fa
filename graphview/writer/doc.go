// Package writer writes a graph. One goroutine applies all events, in the order in which they were
// sent, and commits each batch at once.
//
// Work that may run in any order, such as replays, runs in the background: one bounded step between
// two batches. So an event waits for at most one step.
//
// A commit does not always publish. A reader that reads gets the last revision. The writer notifies
// waiting readers of a lens at once, or later if it has notified them recently; see Follower.
//
// The package knows events, lenses and followers. It does not know views, watches or messages.
package writer
