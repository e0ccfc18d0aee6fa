// Package access asks the API server what somebody may do.
//
// A [Question] is one verb on one resource, or on one path. A [Review] answers a
// single question; [SubjectAccessReviews] is the API server's own. An [Asker]
// answers many of them for many people:
//
//   - A batch ([Asker.All], [Asker.Watchable]) is asked in parallel. The answers
//     that came are returned beside an error too.
//   - All questions of an Asker share one rate. They are taken in turns by owner,
//     which is the user name: whoever asks ten thousand questions delays their own
//     and nobody else's by more than one question per turn. Each owner has a
//     bounded number of questions under way at the same time, whatever number of
//     callers ask for it.
//   - One attempt has a time limit. An attempt that the API server may answer soon
//     is repeated with a back-off that outlasts a restart of the API server. A
//     question that it refuses to answer is not.
//   - The caller's context bounds everything together, the waiting included.
//
// Callers whose questions differ in urgency make an Asker for each urgency, so
// that the one does not starve the other.
//
// The package deliberately knows no view, no stream and no cache: how long an
// answer holds, and what follows from it, is for the caller to say. Package
// controllers decides with it for ServiceAccounts, package rights for subscribers.
//
// # Concurrency
//
// An Asker may be used by any number of goroutines. It has none of its own: a
// batch's goroutines are joined before the batch returns.
package access
