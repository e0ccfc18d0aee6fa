// Package mux sends many graphs to one peer over one WebSocket, with the
// subprotocol graphview.mux.v1 (docs/stream.md).
//
// A [Mux] is one connection. Each graph on it is a channel, which has a goroutine
// and a position in its view. The client's messages begin and end channels. A
// channel with changes asks for its turn, and makes the message only when it has the turn.
// So a waiting channel has no message, and later sends the net change. Turns are given in the order of requests:
// a channel with a large graph asks again after each message, and every other channel has a turn in between.
//
// # Heartbeats
//
// After a time of silence a ping is sent, and the peer must answer with a pong or a message.
// A message must count too: the reading goroutine handles a message before it reads on, the
// handling may wait for the turn that the ping has, and during that wait it cannot read the pong.
//
// The package does not know HTTP, users, rights or how a view is found: the caller supplies
// [Graphs], and [Room] has the places for graphs.
//
// # Concurrency
//
// [Mux.Run] and [Mux.Read] are each called once, by two goroutines. Run returns when
// the connection is over and every channel has ended. Read returns when the socket
// is closed, which Run does last. The turn is taken before the mutex of the Mux, and
// nothing is sent under that mutex.
package mux
