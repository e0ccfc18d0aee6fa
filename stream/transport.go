package stream

import (
	"context"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// transport carries a session's messages to its peer. A session calls one method
// at a time.
type transport interface {
	// WriteFrame sends one message. The frame is shared and only read.
	WriteFrame(ctx context.Context, frame *graphview.Frame) error
	// Ping is sent when nothing else was. It fails if the peer is gone, where that
	// can be known.
	Ping(ctx context.Context) error
	// Close ends the transport in an orderly way, as far as it has one, and joins
	// what the transport started. The text is that of a close frame: the reason, and
	// the beginning of a message that was sent before, in full.
	Close(code reason.Code, text string)
	// Abort does the same for a peer that cannot be told.
	Abort()
}

// errorFrame is the last message of a stream: why it ends.
func errorFrame(closed *graphview.ClosedError) *graphview.Frame {
	return &graphview.Frame{JSON: encode(struct {
		Error problem `json:"error"`
	}{problemOf(closed)})}
}

// problem is how messages say why something ended, or was not begun.
type problem struct {
	Code       int           `json:"code"`
	CodeString string        `json:"code_string"`
	Reason     reason.Reason `json:"reason"`
	Message    string        `json:"message"`
}

func problemOf(closed *graphview.ClosedError) problem {
	code := closed.Code()
	return problem{int(code), websocket.StatusCode(code).String(), closed.Reason, closed.Message}
}
