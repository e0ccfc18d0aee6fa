package v1alpha1

import (
	"fmt"

	"graphview.dev/api/reason"
)

// CloseError says why a stream ends, or was not begun.
type CloseError struct {
	// code is the code of a close frame of a WebSocket.
	Code reason.Code `json:"code"`
	// code_string is the name of the code.
	CodeString string `json:"code_string"`
	// reason is a word for programs, such as NotFound, Unauthorized or LimitExceeded. A close frame
	// without a word has none.
	Reason reason.Reason `json:"reason"`
	// message is a text for people.
	Message string `json:"message"`
}

// Error returns a text for people.
func (e *CloseError) Error() string {
	text := fmt.Sprintf("the server ended the stream (%d %s)", e.Code, e.Reason)
	if e.Reason == "" {
		text = fmt.Sprintf("the server ended the stream (%d)", e.Code)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}
