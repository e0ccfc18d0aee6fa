package stream

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// events is the transport of server-sent events. The id of an event is its rev,
// so that what a browser gives back when it reconnects is the last instant at
// which its graph was whole.
type events struct{ response }

func (e events) WriteFrame(ctx context.Context, frame *graphview.Frame) error {
	data := [][]byte{[]byte("data: "), frame.JSON, []byte("\n\n")}
	if frame.Rev != "" {
		data = append([][]byte{[]byte("id: " + frame.Rev + "\n")}, data...)
	}
	return e.write(ctx, data...)
}

func (e events) Ping(ctx context.Context) error { return e.write(ctx, []byte(":\n\n")) }

// Close has nothing to do: the response ends with the handler.
func (events) Close(reason.Code, string) {}

// Abort likewise.
func (events) Abort() {}
