// Package rights knows the rights of subscribers, as long as they have streams.
//
// A stream holds a [Lease] on its identity: name, UID, groups and extra, as the API server
// authorizes them, but for the ID of the credential. The engine asks the lease about places (a
// delivery.Access), and the lease asks the API server about list and watch: of everything
// first, then of resources in the whole cluster, then in namespaces. After each interval
// [Permissions] asks again about every identity: the places that its streams may show, whether the streams may
// continue, and whether their credentials are still valid. It notifies leases of a changed answer, and ends a
// stream whose own right is lost.
//
// Answers are shared by all streams of an identity, and outlive the last one for a while, so
// that a stream that reconnects, also with a renewed token, does not ask about all places again.
//
// Users take turns, in questions (package access) and in re-checks, so that a user with many
// credentials or few rights delays no other. The number of identities per owner and the
// answers of those without streams are bounded.
//
// The package does not know HTTP, authentication, or messages.
//
// # Concurrency
//
// Permissions and Leases may be used by any number of goroutines. The one loop is
// [Permissions.Run], which joins its goroutines. Lock order: that of Permissions,
// then an identity's. No lock is held while the API server is asked.
package rights
