// Package tunnel carries requests of a hub to a member that dials: HTTP/2 with reversed
// roles over a WebSocket.
//
// The member opens a WebSocket at the hub and serves HTTP/2 on it; the hub is the client.
// So a member needs no port that the hub can reach. The WebSocket is for intermediaries:
// ingresses pass it, and load balancers count the bytes of HTTP/2 pings inside it, but not
// HTTP/2 pings of their own connections, against their idle timeouts.
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
