// Package transport carries the messages of a stream to a peer: over a WebSocket
// ([Socket]), as server-sent events ([Events]) or as lines ([Lines]). It also reads
// the few messages of a peer.
//
// It does not know views, permissions, limits per user, or when to send: package stream
// does. Of package delivery it knows a message and how
// a stream ends.
//
// # The memory of an idle subscriber
//
// Most subscribers are idle most of the time, and an operator may have ten thousand.
// So the memory of an idle stream bounds the number of subscribers of an
// operator. On its own TLS port that is some 20 KiB: two goroutines with
// their stacks, the TLS connection, and the identity and position of the subscriber.
// With the defaults of the libraries it would be more than twice as much:
//
//   - net/http gives a hijacked connection two buffers of 4 KiB. [Accept]
//     replaces them by buffers of 64 bytes: a client sends pongs and one close frame.
//   - With so small a buffer the WebSocket library would write a message in parts, each
//     a system call and a record of TLS. The frame coalescer (coalesce.go) follows the
//     frames below the library and sends the parts of a small message as one, from a
//     shared buffer. It parses the headers that the library has just
//     written, since it cannot find the end of a message in another way.
//   - A request's context retains the request, its header, its user and the values of
//     each filter: a kilobyte. A stream uses the context
//     of the connection (withBaseContext of package stream), and keeps a copy of the
//     credentials for the next check.
//   - A context with a deadline and a timer for each message would be garbage of a busy
//     stream, and memory of an idle one. [Deadline] uses one context for many messages, and
//     frees it when no messages are sent.
//   - A waiting handler retains its request's buffers. The handler of a WebSocket
//     returns, and a goroutine of the server goes on.
//   - With compression a connection would have a compressor of up to a megabyte, and
//     subscribers could not share messages. Messages are not compressed.
//
// A subscriber that does not read needs memory for one message more: at most 32 KiB
// for the message, and as much again for an object that makes it exceed that
// and for a record of TLS. Messages with an object of 16 KiB or more are
// shared, and the bytes that are not sent yet are bounded in all (unsent_bytes
// of package admission). test/hostile measures both.
//
// # Concurrency
//
// One goroutine writes to a transport at a time. A Socket has a second goroutine, which
// reads, because only a reader sees pongs and the end of the connection; Close and Abort join
// it.
package transport
