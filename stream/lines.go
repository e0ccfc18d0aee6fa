package stream

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// lines is the transport for everything that can read a line: curl, kubectl get
// --raw, a script.
type lines struct{ response }

func (l lines) WriteFrame(ctx context.Context, frame *graphview.Frame) error {
	return l.write(ctx, frame.JSON, []byte("\n"))
}

func (l lines) Ping(ctx context.Context) error { return l.write(ctx, []byte("\n")) }

// Close has nothing to do: the response ends with the handler.
func (lines) Close(reason.Code, string) {}

// Abort likewise.
func (lines) Abort() {}
