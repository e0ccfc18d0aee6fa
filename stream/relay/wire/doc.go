// Package wire is what replicas say to each other: a subscriber's replica, the edge,
// and one that holds the view, the holder.
//
// A relay is one HTTP/2 request for one view, full duplex. On it each subscriber has
// a channel. A message is a byte for its type, the channel, the length of its payload
// and the payload. The messages of the stream protocol pass as they are: neither side
// reads them.
//
// The edge gives credit: a holder sends on a channel what one Poll returns, and no
// more until it is asked for [More]. So nothing is queued between the graph and the
// subscriber, who is a position at the holder while it does not read.
//
// The edge decides what a subscriber may see, and tells the holder the answers; the
// holder asks for those that it needs ([Ask]). Answers that have changed begin a new
// epoch. The holder marks what it sends with the epoch under which it was made, and
// the edge drops what is of an earlier one.
//
// The package deliberately does not know HTTP, and not who is on the other side. What
// it reads is foreign: whatever it is, it is an error at worst.
package wire
