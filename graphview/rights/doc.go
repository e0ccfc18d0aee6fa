// Package rights knows the rights of users to list and watch: of subscribers as long as they have streams, and of
// ServiceAccounts as long as they restrict views.
//
// A stream or a view holds a [Lease] on its user's identity: name, UID, groups and extra, as the API server
// authorizes them, but for the ID of the credential. Readers of graphs ask the lease about places (a
// delivery.Access), and the lease asks the API server about list and watch: of everything
// first, then of resources in the whole cluster, then in namespaces. After each interval
// [Permissions] asks again about every identity: the places that its streams may show and its views may contain, whether
// the streams may continue, and whether their credentials are still valid. It notifies leases of a changed answer, ends a
// stream whose own right is lost, and forgets the answers when too many re-checks have failed.
//
// Answers are shared by all leases of an identity. Those of subscribers outlive the last one for a while, so
// that a stream that reconnects, also with a renewed token, does not ask about all places again.
//
// Users take turns, in questions (package access) and in re-checks, so that a user with many
// credentials or few rights delays no other. The number of identities per owner and the
// answers of those without leases are bounded.
//
// The package does not know HTTP, authentication, views, or messages.
//
// # Concurrency
//
// Permissions and Leases may be used by any number of goroutines. The one loop is
// [Permissions.Run], which joins its goroutines. Lock order: that of Permissions,
// then an identity's. No lock is held while the API server is asked.
package rights
