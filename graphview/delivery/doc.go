// Package delivery makes the messages of the stream protocol for each subscriber, from the
// lens and the warnings of a view and the rights of the subscriber.
//
// A [Publisher] is the half of a view that faces its subscribers. A [Subscription] is the
// position of one subscriber in the view. It has no queue: messages are made from the graph
// when the subscriber asks for them. A change is encoded once for all current subscribers
// with the same rights and options. A whole graph is encoded once for those of them that
// begin within a second. Subscribers encode the pieces of whole graphs in turns, so that
// changes do not wait for them. [Warnings] say which objects the view cannot show, and why.
//
// The package deliberately does not know specs, expressions, discovery, watches, users,
// transports or access reviews. The engine gives a Publisher its [Source], and the server
// gives a subscriber its [Access].
//
// # Concurrency
//
// A Publisher and Warnings may be used by any number of goroutines, a Subscription by one at
// a time. Nothing is encoded under a lock of the graph. A subscriber may wait for a piece that
// another one encodes, and that one for the graph's lock of readers. The other locks (slots,
// summaries, Warnings) protect maps, and are not held while a piece is encoded.
package delivery
