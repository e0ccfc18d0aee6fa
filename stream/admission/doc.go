// Package admission bounds the resources of a server that subscribers use: connections, streams and
// graphs, views for one connection, exports, and messages that are being written.
//
// Most limits are per owner (budget.Owner). An owner that reaches a limit is refused, and
// the others are not. Each limit is declared with
// budget.Declare.
//
// The package does not know HTTP requests, rights, views or the form of a refusal: its
// errors are a *budget.Exceeded or a *delivery.ClosedError.
//
// Concurrency: all types may be used by any goroutine. No goroutine waits with a lock.
package admission
