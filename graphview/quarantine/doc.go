// Package quarantine finds the work that ended a process which could not say so itself,
// because memory ran out or a stack overflowed, and refuses that work from then on.
//
// A caller notes work on what a user wrote with [Journal.Begin], and ends it with
// [Record.End]. The notes are in a file that is mapped into memory: to write one makes no
// system call, and it outlives the process, if not the machine. A Journal that is opened
// and finds work under way knows that the process before it ended in the middle of that
// work.
//
// # Blame
//
// The Journal notes 20 times a second that the process is alive, and its heap, so it knows
// how long each piece of work had lasted and how much the heap had grown. If the heap was at
// least half of the memory limit, it blames only work during which the heap grew by a quarter
// of the limit: in a full process, any allocation can be the last. It does not blame work that
// began after the last note: nothing fills a gigabyte in so short a time, and nearly all work
// is shorter. It does not blame work that waits for its turn, as [Record.Pause] says.
// Work that had lasted for [HighWater] is refused. Work in between is suspected: callers
// ask [Journal.Suspects], and do one suspect at a time. A suspect that is under way at
// the next end is refused. After the process has lived for [Probation], suspicion ends.
//
// So work that ends the process is refused after the second time at the latest. Innocent
// work is refused only if it takes a second, or is the one suspect under way at the next
// end, which has to come within minutes. After [Journal.Close], which says that the end
// is in order, no work is blamed.
//
// # Duration
//
// A refusal is for one version of the work; a changed version is tried again. If
// that ends the process too, the next refusal is for all versions for a time, which
// doubles with each.
//
// The package does not know what work is, or Kubernetes. Where files cannot be mapped it
// does nothing. It is a lowest leaf.
//
// # Concurrency
//
// A Journal may be used by any number of goroutines, and a nil one: it notes
// nothing and refuses nothing. A Record belongs to one goroutine. To note work takes no
// lock: each Record has a slot of the file to itself.
package quarantine
