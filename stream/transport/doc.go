// Package transport carries the messages of a stream to a peer: over a WebSocket
// ([Socket]), as server-sent events ([Events]) or as lines ([Lines]). It also reads
// the few messages of a peer.
//
// It does not know views, permissions, limits per user, or when to send: package stream
// does. Of package delivery it knows a message and how
// a stream ends.
//
// # What an idle subscriber costs, and why
//
// Most subscribers are idle most of the time, and an operator may have ten thousand.
// So what an open stream holds while nothing happens is what the memory of the
// operator is bounded by. On its own TLS port that is some 20 KiB: two goroutines with
// their stacks, the TLS connection, and the identity and position of the subscriber.
// Left as the libraries have it, it would be twice that and more:
//
//   - net/http gives a connection that is taken over two buffers of 4 KiB. [Accept]
//     puts buffers of 64 bytes in their place: a client sends pongs and one close frame.
//   - With so small a buffer the WebSocket library would write a message in parts, each
//     a system call and a record of TLS. The frame coalescer (coalesce.go) follows the
//     frames below the library and sends the parts of a small message as one, from a
//     shared buffer. So it parses headers that the library has just
//     written: it has no other way to know where a message ends.
//   - A request's context holds on to the request, its header, its user and what
//     each filter added: a kilobyte. A stream uses the context
//     that the connection had (withBaseContext of package stream), and keeps of the
//     credentials what a renewed check needs, cloned out of the header's text.
//   - A context with a deadline, and a timer, for each message are garbage that a busy
//     stream makes and an idle one holds. [Deadline] uses one for many messages, and
//     gives it up in silence.
//   - A handler that waits holds its request's buffers. The handler of a WebSocket
//     returns, and a goroutine of the server's goes on.
//   - With compression a connection would hold a compressor of up to a megabyte, and
//     each message in a form that is not shared. Nothing is compressed.
//
// A subscriber that does not read holds one message more, the one under way: at most a
// piece of 32 KiB of its own, and as much again for an object that makes it exceed that
// and for a record of TLS. Objects from 16 KiB on have messages that
// subscribers share, and the bytes that are not sent yet are bounded in all (unsent_bytes
// of package admission). test/hostile measures both.
//
// # Concurrency
//
// One goroutine writes to a transport at a time. A Socket has a second one, which
// reads, because only a reader sees pongs and a peer that leaves; Close and Abort join
// it.
package transport
