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

// ErrGone means that the peer has left, or that no message can be sent to it.
var ErrGone = errors.New("the peer is gone")

// Transport carries a session's messages to its peer. A session calls one method
// at a time.
type Transport interface {
	// WriteFrame sends one message. The frame is shared and only read.
	WriteFrame(ctx context.Context, frame *delivery.Frame) error
	// Ping is called after a time without messages. It fails if the peer has left, as far as the transport
	// notices that.
	Ping(ctx context.Context) error
	// Close ends the transport in the orderly way of its protocol, and joins
	// its goroutines. The text is that of a close frame: the reason, and
	// the beginning of the last message, which was sent in full before.
	Close(code reason.Code, text string)
	// Abort ends the transport of a peer to which no message can be sent, and joins its goroutines.
	Abort()
}

// ErrorFrame returns the last message of a stream, with the reason of its end.
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
