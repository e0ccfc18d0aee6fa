package stream

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
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
	var closed *delivery.ClosedError
	if !errors.As(err, &closed) {
		return status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, name, err.Error())
	}
	switch closed.Reason {
	case reason.Deleted, reason.NotFound:
		return apierrors.NewNotFound(groupResource, name.Name)
	case reason.Stopping, reason.LimitExceeded, reason.Unavailable:
		return status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, name, closed.Message)
	case reason.TooManyRequests:
		return status(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, name, closed.Message)
	case reason.Malformed, reason.UnexpectedMessage:
		return status(http.StatusBadRequest, metav1.StatusReasonBadRequest, name, closed.Message)
	case reason.Invalid:
		return status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, name, closed.Message)
	case reason.Unauthorized:
		return status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, name, closed.Message)
	case reason.Forbidden:
		return status(http.StatusForbidden, metav1.StatusReasonForbidden, name, closed.Message)
	default:
		return status(http.StatusInternalServerError, metav1.StatusReasonInternalError, name, closed.Message)
	}
}

func status(code int32, word metav1.StatusReason, name graphview.Name, message string) error {
	details := &metav1.StatusDetails{Group: groupVersion.Group, Kind: resource, Name: name.Name}
	if word == metav1.StatusReasonInvalid {
		// Of an invalid object kubectl shows the causes and not the message.
		details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: message}}
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: word, Message: message, Details: details,
	}}
}

// why is the reason for which a wait under ctx ended, as a peer may know it: nil
// if the peer itself is gone. What is none of a peer's business is logged.
func (s *Server) why(ctx context.Context, name graphview.Name, err error) *delivery.ClosedError {
	var closed *delivery.ClosedError
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
func errInternal() *delivery.ClosedError {
	return &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
}
