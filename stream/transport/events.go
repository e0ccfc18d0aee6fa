package transport

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

// Events is the transport of server-sent events. The id of an event is its rev,
// so that a browser that reconnects sends the revision of its last complete
// graph.
type Events struct{ Response }

// WriteFrame implements Transport.
func (e Events) WriteFrame(ctx context.Context, frame *delivery.Frame) error {
	data := [][]byte{[]byte("data: "), frame.JSON, []byte("\n\n")}
	if frame.Rev != "" {
		data = append([][]byte{[]byte("id: " + frame.Rev + "\n")}, data...)
	}
	return e.Write(ctx, data...)
}

// Ping implements Transport.
func (e Events) Ping(ctx context.Context) error { return e.Write(ctx, []byte(":\n\n")) }

// Close has nothing to do: the response ends with the handler.
func (Events) Close(reason.Code, string) {}

// Abort likewise.
func (Events) Abort() {}
