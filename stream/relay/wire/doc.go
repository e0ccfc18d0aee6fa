// Package wire is the protocol between two replicas: the edge, to which a subscriber is
// connected, and the holder, which has the view.
//
// A relay is one full-duplex HTTP/2 request for one view. It has a channel for each
// subscriber. A message is a byte for its type, the channel, the length of its payload,
// and the payload. Replicas of different versions speak the oldest version that both
// know ([Negotiate]); unknown fields and optional messages are ignored.
//
//	subscriber        edge                                holder
//	    | watch         |                                    |
//	    |-------------->| POST /relay/namespaces/…           |
//	    |               |----------------------------------->|
//	    |               |<---------------- Hello run, version|
//	    |               |                                    | acquires the view
//	    |               |<----------------------- Hold synced|
//	    |               | Open 1: answers, since, window     |
//	    |               |----------------------------------->| subscribes
//	    |               |<-------------------- Ask 1: places |
//	    |               | Tell 1: answers                    |
//	    |               |----------------------------------->|
//	    |<--------------|<------------- Frame 1: bytes, keep |
//	    |               |<---------------- Refer 0: channels |
//	    |               | More 1: bytes                      |
//	    |               |----------------------------------->|
//	    |               |<--------------------- End 1: reason|
//
// The bytes of a frame cross once per relay. Both ends keep the newest frames in a [Queue]
// by the same rule, and a further channel that sends one of them is sent its number. So
// neither end acknowledges a frame, and no position crosses.
//
// A channel sends within a window of bytes that the edge grants. A subscriber that does
// not read is a position at the holder, beyond that window.
//
// The edge decides what a subscriber may see and sends the answers ([Answers]); the holder
// asks for the ones that it needs. A subscriber with another answer opens another channel.
//
// The package does not know HTTP or its peer. It does not trust its input: malformed frames
// are errors.
package wire
