// Package quarantine finds out what ended a process that could not say so itself,
// because memory ran out or a stack overflowed, and keeps it from being done again.
//
// Whoever is about to work on something that somebody else wrote says so with
// [Journal.Begin], and ends it with [Record.End]. What is under way is in a file that
// is mapped into memory: to note it costs no system call, and what was noted outlives
// the process, if not the machine. A Journal that is opened and finds work under way
// knows that the process before it was ended in the middle of that.
//
// # Who is to blame
//
// The Journal notes 20 times a second that the process is alive, so that of all work
// it is known how long it had lasted. Work that began after the last of these notes
// is not to blame: nothing fills a gigabyte in so short a time, and nearly all work
// is shorter. Work that had lasted for [HighWater] is refused from then on. What is in
// between is suspected: the caller, who asks [Journal.Suspects], does one suspect at a time. If the process
// ends once more with a suspect under way, that one is refused. Once the process has
// lived for [Probation], nobody is suspected any more.
//
// So whatever ends the process is refused after the second time at the latest, and
// an innocent is refused only if it takes a second, or is the one suspect under way at
// the next end, which has to come within minutes. [Journal.Close] says that an end
// is in order, and then nobody is blamed.
//
// # Until when
//
// A refusal is for one version of the work. Whoever changes it is tried again. If
// that ends the process too, the next refusal is for all versions for a time, which
// doubles with each.
//
// The package deliberately does not know what work is, or Kubernetes. Where files
// cannot be mapped it does nothing. It is a lowest leaf.
//
// # Concurrency
//
// A Journal may be used by any number of goroutines, and a nil one: it notes
// nothing and refuses nothing. A Record belongs to one goroutine. To note work takes no
// lock: each Record has a slot of the file to itself.
package quarantine
