// Package subscriber follows a view's stream for tests, as a dashboard does: it applies
// what comes to the strict reference client of test/oracle, keeps the first thing that
// was wrong, and continues with the last revision on a new connection.
//
// It knows messages, and how they come in a WebSocket, in events or in lines. It knows
// nothing of the engine and of the served API: how a connection is opened, its callers
// say. A test of the engine reads a subscription in the process with [Batches].
//
// It starts no goroutine: Follow and Persist return when the stream or the context has
// ended. The other methods of a Subscriber may be called meanwhile, from any goroutine.
package subscriber
