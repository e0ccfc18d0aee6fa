package stream

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	"graphview.dev/graphview"
)

// refuse answers a request with a Status.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if refused, ok := errors.AsType[*apierrors.StatusError](err); ok && isUpgrade(r) && refused.ErrStatus.Details != nil {
		// WebSocket clients look at no more than the beginning of an answer, and the
		// causes only repeat the message.
		short := *refused
		short.ErrStatus.Details = refused.ErrStatus.Details.DeepCopy()
		short.ErrStatus.Details.Causes = nil
		err = &short
	}
	s.metrics.refusal(responsewriters.ErrorNegotiated(err, codecs, groupVersion, w, r))
}

// refusal is the Status for a view that cannot be served because of err.
func refusal(name graphview.Name, err error) error {
	var closed *graphview.ClosedError
	if !errors.As(err, &closed) {
		return status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, name, err.Error())
	}
	switch closed.Code {
	case graphview.CodeDeleted:
		return apierrors.NewNotFound(groupResource, name.Name)
	case graphview.CodeStopping, graphview.CodeLimit:
		return status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, name, closed.Reason)
	case graphview.CodeMalformed:
		return status(http.StatusBadRequest, metav1.StatusReasonBadRequest, name, closed.Reason)
	case graphview.CodeInvalid:
		return status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, name, closed.Reason)
	default:
		return status(http.StatusInternalServerError, metav1.StatusReasonInternalError, name, closed.Reason)
	}
}

func status(code int32, reason metav1.StatusReason, name graphview.Name, message string) error {
	details := &metav1.StatusDetails{Group: groupVersion.Group, Kind: resource, Name: name.Name}
	if reason == metav1.StatusReasonInvalid {
		// Of an invalid object kubectl shows the causes and not the message.
		details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: message}}
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message, Details: details,
	}}
}

// known is nil when all views are known, and until then a Status.
func (s *Server) known() error {
	if s.options.Known == nil {
		return nil
	}
	select {
	case <-s.options.Known:
		return nil
	default:
		return apierrors.NewServiceUnavailable("the server has just started and does not know all graphs yet; try again")
	}
}

// served finds a view that can be opened, or returns a Status.
func (s *Server) served(name graphview.Name) (View, error) {
	// Asked first: a view that comes in between is then found.
	known := s.known()
	view, ok := s.options.Graphs.View(name)
	switch {
	case !ok && known != nil:
		return nil, known
	case !ok:
		return nil, apierrors.NewNotFound(groupResource, name.Name)
	}
	if err := view.Err(); err != nil {
		return nil, refusal(name, err)
	}
	return view, nil
}

// why is the reason for which a wait under ctx ended, as a peer may know it: nil
// if the peer itself is gone. What is none of a peer's business is logged.
func (s *Server) why(ctx context.Context, name graphview.Name, err error) *graphview.ClosedError {
	var closed *graphview.ClosedError
	if errors.As(err, &closed) {
		return closed
	}
	if ctx.Err() != nil {
		errors.As(context.Cause(ctx), &closed)
		return closed
	}
	s.options.Logger.Error(err, "subscription", "view", name.String())
	return errInternal()
}

// errInternal is what a peer is told of a fault of ours.
func errInternal() *graphview.ClosedError {
	return &graphview.ClosedError{Code: graphview.CodeInternal, Reason: "internal error"}
}
