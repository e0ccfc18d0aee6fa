package stream

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

// takeExport makes room for one more graph that is assembled as a whole.
func (s *Server) takeExport(owner budget.Owner) (giveBack func(), err error) {
	if err := s.exports.Owners.Take(owner, 1); err != nil {
		return nil, err
	}
	return func() { s.exports.Owners.Give(owner, 1) }, nil
}

// openAnswer waits until a graph is complete, and answers a question about it. It closes the graph
// if it cannot.
func (s *Server) openAnswer(ctx context.Context, graph *openGraph, answer func() (*streamv1alpha1.ServerMessage, error)) (*answerChannel, error) {
	answered := false
	defer func() {
		if !answered { // an error, or a panic
			graph.Close()
		}
	}()
	giveBack, err := s.takeExport(graph.lease.Owner())
	if err != nil {
		return nil, &delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error()}
	}
	defer giveBack()
	if err := graph.view.WaitSynced(ctx); err != nil {
		return nil, toClosedError(err)
	}
	message, err := answer()
	if err != nil {
		return nil, questionClosed(err)
	}
	answered = true
	return &answerChannel{openGraph: graph, frames: []*delivery.Frame{{JSON: encode(message)}}}, nil
}

// questionClosed is the error of an answer for a channel.
func questionClosed(err error) error {
	var status *apierrors.StatusError
	switch {
	case !errors.As(err, &status):
		return toClosedError(err)
	case apierrors.IsNotFound(err):
		return &delivery.ClosedError{Reason: reason.NotFound, Message: status.ErrStatus.Message}
	case apierrors.IsBadRequest(err):
		return &delivery.ClosedError{Reason: reason.Malformed, Message: status.ErrStatus.Message}
	default:
		return &delivery.ClosedError{Reason: reason.TooManyRequests, Message: status.ErrStatus.Message}
	}
}

// answerChannel has the answer to one question, and nothing after it.
type answerChannel struct {
	*openGraph

	frames []*delivery.Frame
}

// Poll implements mux.Graph.
func (c *answerChannel) Poll() ([]*delivery.Frame, delivery.Wait, error) {
	frames := c.frames
	c.frames = nil
	return frames, untilEnd, nil
}
