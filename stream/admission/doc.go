// Package admission bounds what subscribers use of a server: connections, streams and
// graphs, views for one connection, exports, and messages that are being written.
//
// Most limits are per owner (budget.Owner). An owner that reaches a limit is refused, and
// the others are not. Each limit is declared with
// budget.Declare.
//
// The package does not know HTTP requests, rights, views or what a refusal looks like: its
// errors are a *budget.Exceeded or a *delivery.ClosedError.
//
// Concurrency: all types may be used by any goroutine. No lock is held while anything waits.
package admission
