package transport

import (
	"context"
	"net/http"
	"time"
)

// Response writes to an HTTP response piece by piece.
type Response struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewResponse is for a response that a handler is about to give.
func NewResponse(w http.ResponseWriter) Response {
	return Response{w: w, control: http.NewResponseController(w)}
}

// Write sends parts on their way before ctx's deadline. It does not notice that
// ctx is done otherwise; closing the connection ends it.
func (r Response) Write(ctx context.Context, parts ...[]byte) error {
	deadline, _ := ctx.Deadline()
	if err := r.control.SetWriteDeadline(deadline); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := r.w.Write(part); err != nil {
			return err
		}
	}
	if err := r.control.Flush(); err != nil {
		return err
	}
	// The connection may serve other requests.
	return r.control.SetWriteDeadline(time.Time{})
}

// Cut has the write that is under way fail, and all that follow it.
func (r Response) Cut() {
	// An error means that the peer is gone.
	_ = r.control.SetWriteDeadline(time.Unix(1, 0))
}
