// Package replicas knows which replicas of the operator there are, and ranks them
// for whatever is to be shared among them.
//
// Each replica has a Lease in the operator's namespace, which says where it can be
// asked and which run of the process it is. All replicas list these Leases. A replica
// counts as gone when its Lease has not been renewed for a while by the clock of
// whoever looks, as in leader election: the times in a Lease are of another clock, and
// decide nothing. While the Leases cannot be listed, nobody is found to be gone.
//
// [Rank] is rendezvous hashing (Thaler and Ravishankar, 1998): all replicas that
// know the same members rank them alike, without a word to each other, and a member
// that comes or goes moves no more than its own share.
//
// The package deliberately does not know what is shared: it knows neither graphs nor
// HTTP. Two replicas may disagree on the members for a while; what they do then must
// be right whoever is.
//
// # Concurrency
//
// All methods may be called by any goroutine; Run once.
package replicas
