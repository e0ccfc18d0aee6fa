package transport

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/coder/websocket"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/delivery"
)

// ErrGone is of a peer that left, or that cannot be told anything.
var ErrGone = errors.New("the peer is gone")

// Transport carries a session's messages to its peer. A session calls one method
// at a time.
type Transport interface {
	// WriteFrame sends one message. The frame is shared and only read.
	WriteFrame(ctx context.Context, frame *delivery.Frame) error
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

// ErrorFrame is the last message of a stream: why it ends.
func ErrorFrame(closed *delivery.ClosedError) *delivery.Frame {
	text, err := json.Marshal(streamv1alpha1.Message{Error: ErrorOf(closed)})
	if err != nil { // two numbers and three strings
		panic(err)
	}
	return &delivery.Frame{JSON: text}
}

// ErrorOf returns the member of a message that says why something ended, or was not begun.
func ErrorOf(closed *delivery.ClosedError) *streamv1alpha1.CloseError {
	code := closed.Code()
	return &streamv1alpha1.CloseError{Code: code, CodeString: websocket.StatusCode(code).String(), Reason: closed.Reason, Message: closed.Message}
}
