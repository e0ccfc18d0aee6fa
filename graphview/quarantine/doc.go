// Package quarantine finds the work that ended a process by exhausting its memory or
// overflowing a stack, and refuses that work from then on.
//
// A caller records work on the text of a user with [Journal.Begin], and ends it with
// [Record.End]. The records are in a file that is mapped into memory: writing a record makes
// no system call, and the record survives the process, but not a crash of the machine. When
// [Open] finds work in progress, the previous process ended in the middle of that work.
//
// # Blame
//
// 20 times a second, the Journal records a heartbeat with the size of the heap. So the next
// process can compute how long each piece of work had lasted and how much the heap had grown.
// If the heap was at least half of the memory limit, only work during which the heap grew by
// a quarter of the limit is blamed: in a full process, any allocation can be the last. Work
// that began after the last heartbeat is not blamed: it cannot fill a gigabyte in so short a
// time, and nearly all work is shorter. Paused work ([Record.Pause]) is not blamed either.
// Work that had lasted for [HighWater] is refused. Shorter work is suspected: callers ask
// [Journal.Suspects], and run one suspect at a time. A suspect that is in progress when the
// process ends again is refused. After a process has lived for [Probation], it has no suspects.
//
// So work that ends the process is refused after the second time at the latest. Innocent
// work is refused only if it takes a second, or if it is the one suspect in progress when the
// process ends again within minutes. After [Journal.Close], an orderly end, no work is blamed.
//
// # Duration
//
// A refusal is for one version of the work; a changed version is tried again. If that
// version ends the process too, the next refusal is for all versions for some time, which
// doubles with each further refusal.
//
// The package does not know the meaning of the work, or Kubernetes. It imports no other
// package of the project. On systems that are not Unix, [Open] returns an error.
//
// # Concurrency
//
// A Journal is safe for concurrent use. A nil Journal records nothing and refuses nothing. A
// Record belongs to one goroutine. Each Record has a slot of the file to itself, so recording
// work takes no lock.
package quarantine
