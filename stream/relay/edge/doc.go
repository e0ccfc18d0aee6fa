// Package edge reads views from other replicas, which hold them; see package wire.
//
// A subscriber at this replica has a [Channel] of a [Relay]: what it may see is asked
// here, as for a view of this replica's own, and the holder is told the answers. A
// channel holds at most what its subscriber has asked for and not taken yet.
//
// The package deliberately does not know which replicas there are, nor which of them
// to ask: see package placement.
//
// # Concurrency
//
// A Client may be used by any goroutine. Each relay has one goroutine that reads and
// one that writes; Close of the Client joins them. A Channel is used by one goroutine
// at a time, as a stream.Subscription is.
package edge
