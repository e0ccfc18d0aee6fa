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

// NewResponse returns a Response for a handler that has written nothing yet.
func NewResponse(w http.ResponseWriter) Response {
	return Response{w: w, control: http.NewResponseController(w)}
}

// Write writes and flushes parts before ctx's deadline. It does not notice a
// cancelled ctx; the end of the connection ends it.
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

// Cut makes the running write and all later ones fail.
func (r Response) Cut() {
	// An error means that the peer has left.
	_ = r.control.SetWriteDeadline(time.Unix(1, 0))
}

// CutAfter cuts when ctx is done. The handler calls stop before it returns, since net/http lets the process panic if an
// HTTP/2 response is used later. After stop nothing cuts any more.
func (r Response) CutAfter(ctx context.Context) (stop func()) {
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(ended)
		r.Cut()
	})
	return func() {
		if !cancel() {
			<-ended
		}
	}
}
