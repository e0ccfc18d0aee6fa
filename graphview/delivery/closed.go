package delivery

import (
	"fmt"

	"graphview.dev/api/reason"
)

// ClosedError is how a subscription ends when not by its subscriber, on every
// transport.
type ClosedError struct {
	Reason reason.Reason
	// Message is for people; it may be longer than a close frame holds.
	Message string
}

func (e *ClosedError) Error() string { return fmt.Sprintf("closed (%s): %s", e.Reason, e.Message) }

// Code is the WebSocket close code that goes with the reason.
func (e *ClosedError) Code() reason.Code { return e.Reason.Code() }
