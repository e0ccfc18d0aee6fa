// Package edge reads views from other replicas, which hold them; see package wire.
//
// A subscriber at this replica has a [Channel] of a [Relay]: what it may see is asked
// here, as for a view of this replica's own, and the holder is told the answers.
// Subscribers with the same rights share a flow, which is one channel to the holder: a
// change comes once for all of them. It is kept for those who have not taken it yet, up
// to a bound; whoever is further behind has a flow of its own, on which the holder sends
// nothing that is not asked for.
//
// The package deliberately does not know which replicas there are, nor which of them
// to ask: see package placement.
//
// # Concurrency
//
// A Client may be used by any goroutine. Each relay has one goroutine, which reads; Close
// of the Client joins it. What is said to the holder net/http fetches. A Channel is used by one goroutine
// at a time, as a stream.Subscription is.
package edge
