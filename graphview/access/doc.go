// Package access asks the API server what a user may do.
//
// A [Question] is one verb on one resource, or on one path. A [Review] answers a
// single question; [SubjectAccessReviews] is the API server's own. An [Asker]
// answers many questions about many users:
//
//   - A batch ([Asker.All], [Asker.Watchable]) is asked in parallel. The answers
//     that came are returned beside an error too.
//   - All questions of an Asker share one rate, in turns of owners (package
//     fairqueue): an owner with ten thousand questions delays another owner's by one
//     question per turn. Each owner has a bounded number of questions under way.
//   - One attempt has a time limit. An attempt that the API server may answer soon
//     is repeated with a back-off that outlasts a restart of the API server. A
//     question that it refuses to answer is not.
//   - The caller's context bounds everything together, the waiting included.
//
// Callers make an Asker for each urgency of questions, so that one urgency does not
// starve the other.
//
// The package does not know views, streams and caches: the caller decides how long an
// answer holds, and what follows from it. Package controllers asks for
// ServiceAccounts, package rights for subscribers.
//
// # Concurrency
//
// An Asker may be used by any number of goroutines. It has none of its own: a
// batch's goroutines are joined before the batch returns.
package access
