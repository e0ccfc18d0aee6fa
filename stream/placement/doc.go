// Package placement decides which replica holds which view, where replicas share
// them, and serves every view at every replica.
//
// The scope of a view is the namespaces that its spec names, or the whole cluster. The label
// graphview.dev/placement replaces it. The replica that ranks highest for a scope owns its
// views, unless it owns its share already. Views of one scope have the same owner, because an
// object takes most of its memory once, however many views have it. A replica that is asked for
// a view that it does not own holds it too, and for a while longer. So replicas that disagree
// about the members only cost memory.
//
// A [Table] is between the controllers and the engine, which gets only the views that this
// replica holds. It is also between the stream server and the engine: a subscriber of a view
// that another replica holds reads it through a relay. The table chooses a replica when the
// subscriber begins, when that replica is lost, and when the view has moved to another replica
// that has synced. The subscriber is then reset. If only the connection breaks, the table opens
// another one, and the subscriber resumes.
//
// The owner of a view writes its status.
//
// A replica acts by a plan, a pure function of the members, of their known states, and of the
// scopes of all views. Replicas that are suspected, stopping or
// without their API server keep what they own, and are not read from.
//
// The package deliberately does not know the rights of subscribers: the replica that a
// subscriber is connected to reviews them.
//
// # Concurrency
//
// The methods of a Table may be called by any goroutine, Run once. Lock order: an
// entry's settling, then the Table's.
package placement
