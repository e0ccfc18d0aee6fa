// Package holder serves the views that this replica holds to other replicas, the
// edges, at the internal endpoint.
//
// Whoever is asked holds: the package asks for the view at [Views], and can ask no
// other replica. It has no client and does not know which replicas there are, so a
// relay has one hop, whatever two replicas believe of each other.
//
// A holder does not learn who the subscriber is. It is told answers about what the
// subscriber may see, by an edge that has asked the API server, and sends what they
// allow. What it is not told is not sent.
//
// # Concurrency
//
// A request's goroutine reads the edge's messages, and each channel has one that
// sends. The request joins them.
package holder
