// Package mux sends many graphs to one peer over one WebSocket, with the
// subprotocol graphview.mux.v1 (docs/stream.md).
//
// A [Mux] is one connection. Each graph on it is a channel, which has a goroutine
// and a position in its view. The client's messages begin and end channels. A
// channel that has something to send asks for its turn, and has the message made
// only when the turn has come. So a channel that waits holds no message, and is
// given the net change. Turns are given in the order in which they were asked for:
// a large graph, which asks again after each message, lets every other channel
// through in between.
//
// # Heartbeats
//
// A connection on which nothing was sent for a while is sent a ping, and the peer
// has to show that it is there. A pong shows that. A message of the peer's shows it
// too, and must: the goroutine that reads handles a message before it reads on, and
// the handling may wait for the turn that the ping holds. While it waits, it cannot
// see the pong.
//
// The package deliberately does not know HTTP, users, rights or how a view is
// found: whoever accepts the connection gives it [Graphs], and says with [Room]
// whether there is a place for one more graph.
//
// # Concurrency
//
// [Mux.Run] and [Mux.Read] are each called once, by two goroutines. Run returns when
// the connection is over and every channel has ended. Read returns when the socket
// is closed, which Run does last. The turn is taken before the mutex of the Mux, and
// nothing is sent under that mutex.
package mux
