package delivery

import (
	"fmt"

	"graphview.dev/api/reason"
)

// ClosedError says why a subscription ended that the subscriber did not end, on every transport.
type ClosedError struct {
	Reason reason.Reason
	// Message is for people. It may be longer than a close frame allows.
	Message string
}

func (e *ClosedError) Error() string { return fmt.Sprintf("closed (%s): %s", e.Reason, e.Message) }

// Code returns the WebSocket close code of the reason.
func (e *ClosedError) Code() reason.Code { return e.Reason.Code() }
