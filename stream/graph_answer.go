package stream

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/wording"
	"graphview.dev/stream/mux"
	"graphview.dev/stream/names"
)

// serveAnswer answers a question about the graph that a user gets. The error of answer is a Status, a *delivery.ClosedError,
// or ctx's.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, name names.GraphName, answer func(ctx context.Context, graph *openGraph, synced bool) (any, error)) error {
	who, _ := request.UserFrom(r.Context())
	giveBack, err := s.takeExport(budget.UserOwner(who))
	if err != nil {
		return notAdmitted(err)
	}
	defer giveBack()
	stream, view, synced, err := s.beginGet(r, name)
	if stream == nil {
		return err
	}
	defer stream.Release()
	graph, err := s.open(stream.Ctx, who, &opening{name: name, view: view, terms: rights.Terms{End: stream.End}})
	if err != nil {
		return s.failure(stream.Ctx, name, err)
	}
	defer graph.Close()
	answered, err := answer(stream.Ctx, graph, synced)
	if err != nil {
		return s.failure(stream.Ctx, name, err)
	}
	return s.answer(w, r, notKept, encode(answered), []byte("\n"))
}

// takeExport makes room for one more graph that is assembled as a whole.
func (s *Server) takeExport(owner budget.Owner) (giveBack func(), err error) {
	if err := s.exports.Owners.Take(owner); err != nil {
		return nil, err
	}
	return func() { s.exports.Owners.Give(owner) }, nil
}

// openAnswer waits until a graph is complete, and answers a question about it. It closes the graph
// if it cannot.
func (s *Server) openAnswer(ctx context.Context, graph *openGraph, answer func() (*streamv1alpha1.ServerMessage, error)) (mux.Graph, error) {
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

// objectNotFound returns the error that an object is not in a graph, in a user's words. about has other known facts of the
// object, and also is the end of the message.
func objectNotFound(key graph.Key, about wording.Absent, also string) error {
	about.Resource, about.Namespace, about.Name = schema.GroupResource{Group: key.Group, Resource: key.Resource.Resource}.String(), key.Namespace, key.Name
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: about.Text() + also,
		Details: &metav1.StatusDetails{Group: key.Group, Kind: about.Kind, Name: key.Name},
	}}
}
