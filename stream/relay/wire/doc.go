// Package wire is what replicas say to each other: a subscriber's replica, the edge,
// and one that holds the view, the holder.
//
// A relay is one HTTP/2 request for one view, full duplex. On it there is a channel
// for all subscribers whose rights have one digest and who are at one position, and
// one for each that is elsewhere, such as who is new or slow. A message is a byte for
// its type, the channel, the length of its payload and the payload. The messages of
// the stream protocol pass as they are: neither side reads them.
//
// The edge gives credit: a holder sends on a channel one delivery, which is what one
// Poll returns, and no more until it is asked for [More]. So nothing is queued between
// the graph and the subscriber, who is a position at the holder while it does not read.
//
// Where two channels come to the same position, the holder says so ([Join]), and one is
// over. Who falls behind the others of a channel is given one of its own, which the
// edge opens at the delivery that this one had last. Messages arrive in the order in
// which they were written, so both sides mean the same position.
//
// The edge decides what a subscriber may see, and tells the holder the answers; the
// holder asks for those that it needs ([Ask]). Whoever comes to have another answer
// leaves its channel, and begins anew on another one.
//
// The package deliberately does not know HTTP, and not who is on the other side. What
// it reads is foreign: whatever it is, it is an error at worst.
package wire
