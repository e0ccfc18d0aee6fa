package transport

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

// Lines is the transport for clients that read lines: curl, kubectl get
// --raw, a script.
type Lines struct{ Response }

// WriteFrame implements Transport.
func (l Lines) WriteFrame(ctx context.Context, frame *delivery.Frame) error {
	return l.Write(ctx, frame.JSON, []byte("\n"))
}

// Ping implements Transport.
func (l Lines) Ping(ctx context.Context) error { return l.Write(ctx, []byte("\n")) }

// Close has nothing to do: the response ends with the handler.
func (Lines) Close(reason.Code, string) {}

// Abort likewise.
func (Lines) Abort() {}
