// Package tunnel carries requests of a hub to a member that dials: HTTP/1.1 on the streams of
// yamux, with reversed roles, over a WebSocket.
//
// The member opens a WebSocket at the hub and serves HTTP on the streams that the hub opens.
// So a member needs no port that the hub can reach. Each request has a stream of its own, so
// that a request may become a WebSocket, and a response that is not read delays no other. The
// outer WebSocket is for intermediaries: ingresses pass it, and load balancers count its bytes
// against their idle timeouts.
//
// A [Dialer] keeps a member's tunnels: one to each replica of the hub, whose number the hub tells, and
// a new one before an old one ends. [Accept] is the hub's end.
//
// The package does not know links, tokens, or the requests.
//
// # Concurrency
//
// Dialer.Run joins its tunnels. A [Conn] may be used by any goroutine.
package tunnel
