// Package edge reads views from other replicas, which hold them; see package wire.
//
// A subscriber at this replica has a [Channel] of a [Relay]. Its rights are checked here,
// as for a view that this replica holds, and the holder is sent the answers. Subscribers
// that are sent the same have the same frame: its bytes come once.
//
// A channel has a window of bytes that are on the way or unread. The window grows while
// the subscriber reads a large graph, so that a distant holder can be read fast.
//
// The package does not know which replicas there are, or which of them to ask: see package
// placement. It reaches one by the transport that it is given.
//
// # Concurrency
//
// A Client may be used by any goroutine. Each relay has one goroutine, which reads; Close
// of the Client joins it. net/http reads what a relay sends. A Channel is used by one
// goroutine at a time, as a stream.Subscription is.
package edge
