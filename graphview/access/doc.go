// Package access asks the API server whether users may perform actions.
//
// A [Question] is one verb on one resource, or on one path. A [Review] answers one
// question; [SubjectAccessReviews] asks the API server. An [Asker] answers many
// questions about many users:
//
//   - The questions of a batch ([Asker.All], [Asker.Watchable]) are asked in parallel.
//     If one fails, the batch returns the error and the answers received so far.
//   - All questions of an Asker share one rate, and owners take turns (package
//     fairqueue): an owner with ten thousand questions delays another owner's by one
//     question per turn. Each owner has a limited number of questions in progress.
//   - Each attempt has a time limit. A failed attempt is retried with a back-off that
//     outlasts a restart of the API server, unless the API server refuses the review
//     (forbidden, unauthorized, invalid).
//   - The caller's context limits the whole call, including the wait for a turn.
//
// Callers make one Asker for urgent questions and another for the rest, so that neither
// starves the other.
//
// An Asker does not cache. Package rights keeps the answers.
//
// # Concurrency
//
// An Asker may be used by any number of goroutines. A batch waits for its goroutines
// before it returns.
package access
