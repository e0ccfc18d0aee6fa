// Package stream is the served API: it lets subscribers open the graph of a
// view by name, once or as a stream of changes, as the aggregated Kubernetes
// API stream.graphview.dev/v1alpha1 with the one resource `graphs`. One
// http.Handler serves both the operator's own TLS port and the aggregation layer
// of the API server.
//
// A request passes four checks. Each one refuses with a Kubernetes Status before any
// upgrade: authentication (authentication.go: TokenReview, the API server's client CA and
// front proxy), authorization (authorization.go: SubjectAccessReview), whether the view
// exists and is served (open.go), and whether there is room (package admission). Then it is
// answered at once (list.go, snapshot.go, export.go, object.go) or becomes a session: a loop
// that takes frames from a subscription and writes them to a transport (session.go; package
// transport). handshake.go upgrades WebSockets. Each channel of a connection for many graphs
// (streams.go; package mux) passes the same checks.
//
// Server.open opens a graph for all of them: the view, a lease on the user's rights (package
// rights) and the subscription, whose frames contain the objects that the lease permits. A Cluster has
// the views.
//
// The package does not know watches, informers, CEL, how a graph is made, or the content of
// a frame. Frames are one line of JSON each and are shared by all sessions. Only exports
// read the names in them, for package format.
//
// # Concurrency
//
// A session is one goroutine that waits for its subscription and then for its peer, so a
// slow peer delays no other and has no queue. A WebSocket has a second goroutine that
// reads, because only a reader receives pongs and notices a peer that leaves; the session
// joins it. A mux has these two and one for each channel. A WebSocket session outlives its
// HTTP handler, whose buffers are then free; so Server records everything that is open, ends
// it when it stops, and joins it within a bound. No lock is held during network writes or
// questions to the API server.
package stream
