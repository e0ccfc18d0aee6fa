package stream

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/names"
)

// handlerFunc answers a request, or returns the Status that answering sends. It has written nothing
// then.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// answering returns the handler that answers the errors of another.
func (s *Server) answering(h handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.refuse(w, r, err)
		}
	})
}

// refuse answers a request with a Status. Only answering calls it.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if refused, ok := errors.AsType[*apierrors.StatusError](err); ok && isUpgrade(r) && refused.ErrStatus.Details != nil {
		// WebSocket clients read only the beginning of an answer, and the causes repeat the
		// message.
		short := *refused
		short.ErrStatus.Details = refused.ErrStatus.Details.DeepCopy()
		short.ErrStatus.Details.Causes = nil
		err = &short
	}
	s.metrics.refusal(responsewriters.ErrorNegotiated(err, codecs, groupVersion, w, r))
}

// refusal returns the Status for a view that cannot be served because of err.
func refusal(name names.GraphName, err error) error {
	var closed *delivery.ClosedError
	if !errors.As(err, &closed) {
		return status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, name, err.Error())
	}
	switch closed.Reason {
	case reason.Deleted, reason.NotFound:
		return apierrors.NewNotFound(groupResource, name.Name)
	case reason.Stopping, reason.LimitExceeded, reason.Unavailable:
		return status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, name, closed.Message)
	case reason.ClusterUnreachable:
		err := apierrors.NewServiceUnavailable(closed.Message)
		// No Retry-After: the request has waited as long as its client does, and client-go would
		// repeat it ten times.
		err.ErrStatus.Details = &metav1.StatusDetails{Group: groupVersion.Group, Kind: clusters, Name: name.Cluster}
		return err
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

func status(code int32, word metav1.StatusReason, name names.GraphName, message string) error {
	details := &metav1.StatusDetails{Group: groupVersion.Group, Kind: resource, Name: name.Name}
	if word == metav1.StatusReasonInvalid {
		// For an invalid object kubectl shows the causes and not the message.
		details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: message}}
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: word, Message: message, Details: details,
	}}
}

// notAdmitted returns the Status for an error of package admission; nil for nil.
func notAdmitted(err error) error {
	if err == nil {
		return nil
	}
	if closed, ok := errors.AsType[*delivery.ClosedError](err); ok {
		return apierrors.NewServiceUnavailable(closed.Message)
	}
	return apierrors.NewTooManyRequests(err.Error()+"; close some, or try again later", 5)
}

// toClosedError returns the error that a peer is sent if there is no view. The spec of a
// view that is not accepted gives an error of another type.
func toClosedError(err error) *delivery.ClosedError {
	if closed, ok := errors.AsType[*delivery.ClosedError](err); ok {
		return closed
	}
	return &delivery.ClosedError{Reason: reason.Invalid, Message: err.Error()}
}

// failure returns the Status for a get that failed under ctx; nil if the client has left.
func (s *Server) failure(ctx context.Context, name names.GraphName, err error) error {
	if refused, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return refused
	}
	if closed := s.closeError(ctx, name, err); closed != nil {
		return refusal(name, closed)
	}
	return nil
}

// closeError returns the error that a peer is sent when a wait under ctx has failed with
// err; nil if the peer has left. Internal errors are logged and not sent.
func (s *Server) closeError(ctx context.Context, name names.GraphName, err error) *delivery.ClosedError {
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

// errInternal is sent to a peer in place of an internal error.
func errInternal() *delivery.ClosedError {
	return &delivery.ClosedError{Reason: reason.Internal, Message: "internal error"}
}
