package graphview

import "fmt"

// Code is a WebSocket close code (RFC 6455, section 7.4.1): why a subscription
// ended, on every transport.
type Code int

// The codes a subscription may end with.
const (
	CodeDeleted   Code = 1000 // the view was deleted
	CodeStopping  Code = 1001 // the server stops or no longer has the view: reconnect
	CodeMalformed Code = 1007 // the request cannot be understood
	CodeInvalid   Code = 1008 // the view is not accepted, or the subscriber not allowed
	CodeInternal  Code = 1011 // our fault
	CodeLimit     Code = 1013 // a limit was reached: try later
)

// ClosedError is how a subscription ends when not by its subscriber.
type ClosedError struct {
	Code Code
	// Reason is for people; it may be longer than a close frame holds.
	Reason string
}

func (e *ClosedError) Error() string { return fmt.Sprintf("closed (%d): %s", e.Code, e.Reason) }
