// Package writer writes a graph. One goroutine applies all events, in the order in which they were
// sent, and commits each batch at once.
//
// Work without order, such as replays of objects, runs in the background: one bounded step between
// two batches. So an event waits for at most one step.
//
// Publication is apart from the commit. A reader gets the last revision whenever it reads. The
// writer notifies the followers of a lens at once, or later if it did so lately; see Follower.
//
// The package knows events, lenses and followers. It does not know views, watches or messages.
package writer
