// Package replicas knows the replicas of the operator, and ranks them for a scope.
//
// Each replica has a Lease in the operator's namespace, named after its pod, with the
// run of the process as its holder and the address of its relay port. All replicas list
// these Leases. A replica is gone when its Lease has not been renewed for a while by the
// observer's clock, as in leader election: the times in a Lease are of another clock and
// decide nothing. While the Leases cannot be listed, no replica is gone.
//
// A replica lists the Leases a second time, one renewal after it has written its own,
// before it has any members: replicas that start together know each other by then.
//
// [Rank] is rendezvous hashing (Thaler and Ravishankar, 1998): replicas that know the
// same members rank them alike, without communication, and a member that joins or leaves
// moves no more than its own share.
//
// The package does not know what is shared: it knows neither graphs nor HTTP. Two replicas
// may disagree on the members for a while; callers have to be right in both views.
//
// # Concurrency
//
// All methods may be called by any goroutine; Run once.
package replicas
