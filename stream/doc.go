// Package stream is the served API: it lets subscribers open the graph of a
// view by name, once or as a stream of changes, as the aggregated Kubernetes
// API stream.graphview.dev/v1alpha1 with the one resource `graphs`. One
// http.Handler serves both the operator's own TLS port and the aggregation layer
// of the API server.
//
// A request goes through four doors, each of which answers with a Kubernetes
// Status before any upgrade: who is it (authentication.go, delegated to the API server
// with TokenReview, its client CA and its front proxy), may it (the same, with
// SubjectAccessReview), is there such a view and is it served (served.go), and
// is there room (registry.go). Then it is answered at once (list.go, snapshot.go,
// export.go) or becomes a session, a WebSocket by way of handshake.go: a loop that takes
// frames from a subscription and writes them to a transport (session.go; package
// transport).
//
// A connection with many graphs (streams.go; package mux) has a channel for each,
// which goes through the same doors by itself (streams_graph.go).
//
// What of a graph is in those frames depends on the subscriber. While it has a
// graph open it holds a lease on what its identity may see, on the right to the
// graph itself and on its own credentials: see package rights.
//
// What it deliberately does not know: watches, informers, CEL, how a graph comes
// to be and what is in a frame. Frames are one line of JSON each, made elsewhere
// and shared by all sessions; they are only written here. Exports alone read the
// names in them, for package format. Of client-go it uses what authentication and
// authorization need.
//
// # Concurrency
//
// A session is one goroutine that waits for its subscription and then for its
// peer, so a slow peer delays nobody and nothing is queued for it. A WebSocket
// has a second one that reads, because only a reader sees pongs and a peer that
// leaves; the session joins it. A mux has those two and one for each channel. A
// WebSocket session outlives its HTTP handler, whose buffers are free from then
// on; so Server keeps a record of everything that is open, ends it when it stops,
// and joins it within a bound. No lock is held while the network is written to or
// the API server is asked.
package stream
