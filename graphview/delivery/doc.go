// Package delivery says what a subscriber is sent: the messages of the stream
// protocol, made from the lens of a view and from its warnings, for what the
// subscriber may see.
//
// A [Publisher] is the half of a view that faces its subscribers. A [Subscription] is
// one subscriber's position in it, and holds no queue: what the subscriber has not
// fetched is made from the graph when it does. What is new to those who are current
// is encoded once for all who have the same rights and want the same content. So is a
// whole graph, for those of them who begin to follow it within a second. Subscribers
// that are sent a whole graph encode its pieces in turns, so that changes need not wait for them.
// [Warnings] are what the view cannot show, and why.
//
// The package deliberately does not know specs, expressions, discovery or watches,
// who asks and by what transport, or how rights are found out: whoever keeps a view
// gives it a [Source], and whoever serves a subscriber its [Access].
//
// # Concurrency
//
// A Publisher and Warnings may be used by any number of goroutines, a Subscription
// by one at a time. Nothing is encoded under a lock of the graph. Locks are taken in
// this order: a slot of the messages that are shared, a lock of the graph's readers,
// then one of the small ones (slots, denials, summaries, Warnings), which protect
// maps and are not held while something is encoded.
package delivery
