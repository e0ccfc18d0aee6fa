package stream

import (
	"context"
	"unicode/utf8"

	"github.com/coder/websocket"

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
	// what the transport started. The reason was sent before, in full.
	Close(code graphview.Code, reason string)
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
	Code       int    `json:"code"`
	CodeString string `json:"code_string"`
	Reason     string `json:"reason"`
}

func problemOf(closed *graphview.ClosedError) problem {
	return problem{int(closed.Code), websocket.StatusCode(closed.Code).String(), closed.Reason}
}

// maxCloseReason is what a close frame has room for (RFC 6455, section 5.5, less
// the code).
const maxCloseReason = 123

// closeReason shortens a reason to what a close frame holds, at a rune boundary.
func closeReason(reason string) string {
	if len(reason) <= maxCloseReason {
		return reason
	}
	end := maxCloseReason
	for end > 0 && !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}
