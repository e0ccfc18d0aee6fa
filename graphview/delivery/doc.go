// Package delivery makes the messages of the stream protocol for each subscriber, from the
// lens and the warnings of a view and the rights of the subscriber.
//
// A [Publisher] is the half of a view that faces its subscribers. A [Subscription] is the
// position of one subscriber in the view. It has no queue: messages are made from the graph
// when the subscriber asks for them. Subscribers with the same rights and options share
// messages: a change is encoded about once, also for subscribers that are behind, and a whole graph once for
// all that begin within a second. Subscribers encode the pieces of whole graphs in turns, so that
// changes do not wait for them. [Warnings] say which objects the view cannot show, and why.
//
// The package deliberately does not know specs, expressions, discovery, watches, users,
// transports or access reviews. The engine gives a Publisher its [Source], and the server
// gives a subscriber its [Access].
//
// # Concurrency
//
// A Publisher and Warnings are safe for concurrent use. One goroutine at a time may use a
// Subscription. Nothing is encoded under a lock of the graph. A subscriber may wait until
// another one has encoded a piece, and that one may wait for the read lock of the graph. The
// other locks (slots, summaries, Warnings) protect maps, and no piece is encoded under them.
package delivery
