// Package rights knows what subscribers may see, as long as they have streams.
//
// A stream holds a [Lease] on its identity, which is all that the API server would
// be asked about: name, UID, groups, extra. The lease is what the engine asks about
// places (a delivery.Access), and it asks the API server: list and watch, in the
// whole cluster first. [Permissions] asks about every identity again, after each
// interval: what its streams may show, whether they may go on, and whether the
// credentials that they were opened with still stand. An answer that changed is
// told; a right to the stream itself that is gone ends it.
//
// Answers are shared by all streams of an identity, and outlive the last one for a
// while, so that a stream that comes back can continue. A user who comes back as
// another identity, with a renewed token, has what was asked before asked anew.
//
// Users take turns, in questions (package access) and in re-checks, so that one
// with many credentials or little rights delays nobody else. How many identities a
// user has, and what is known of those without streams, is bounded.
//
// The package deliberately does not know HTTP, how somebody is authenticated, or
// what is sent.
//
// # Concurrency
//
// Permissions and Leases may be used by any number of goroutines. The one loop is
// [Permissions.Run], which joins what it starts. Lock order: that of Permissions,
// then an identity's. No lock is held while the API server is asked.
package rights
