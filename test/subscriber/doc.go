// Package subscriber follows a view's stream for tests, as a dashboard does: it applies
// messages to the strict reference client of test/oracle, keeps the first error,
// and continues after the last revision on a new connection.
//
// It knows messages, and their transport in a WebSocket, in server-sent events or in lines. It knows
// neither the engine nor the served API: its callers open
// connections. A test of the engine reads a subscription in the process with [Batches].
//
// It starts no goroutine: Follow and Persist return at the end of the stream or the context.
// The other methods of a Subscriber may be called at the same time, from any goroutine.
package subscriber
