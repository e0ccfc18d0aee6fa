package client

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/reason"
)

// Permanent reports whether err lasts until a user acts. A Subscription returns such errors,
// and tries again after others. A Subscription that had its graph also tries again when it is
// refused: a new token, or a server that has started, may change that.
func Permanent(err error) bool {
	if closed, ok := errors.AsType[*CloseError](err); ok {
		// A token that has expired may have been replaced. If not, the next connection
		// is refused.
		return reason.RemedyOf(closed.Reason, closed.Code) == reason.Stop
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		code := status.ErrStatus.Code
		return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
	}
	return false
}

// shutOut reports whether err is a refusal by a server, or a proxy before it, that cannot
// authenticate the client or does not know its rights yet: a server that starts refuses all
// requests for a moment. A hub also refuses them between two versions of a ClusterLink that is
// deleted and made again.
func shutOut(err error) bool {
	if isExpired(err) {
		return true
	}
	return isStatus(err) && (apierrors.IsForbidden(err) || IsNotServed(err) || isLinkMissing(err))
}

// isLinkMissing reports whether a hub has no link of the cluster, whose graphs may well exist.
func isLinkMissing(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && status.ErrStatus.Details != nil && status.ErrStatus.Details.Kind == "clusters"
}

// isExpired reports whether a new token may resolve err.
func isExpired(err error) bool {
	if closed, ok := errors.AsType[*CloseError](err); ok {
		return reason.RemedyOf(closed.Reason, closed.Code) == reason.Renew
	}
	return isStatus(err) && apierrors.IsUnauthorized(err)
}

func isStatus(err error) bool {
	_, ok := errors.AsType[*apierrors.StatusError](err)
	return ok
}

// IsNotFound reports whether the graph, or the link of its cluster, does not exist.
func IsNotFound(err error) bool {
	if closed, ok := errors.AsType[*CloseError](err); ok {
		return closed.Reason == reason.Deleted || closed.Reason == reason.NotFound || closed.Reason == "" && closed.Code == reason.CodeNormal
	}
	return apierrors.IsNotFound(err) && !IsNotServed(err)
}

// IsForbidden reports whether the user may not open the graph.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) }

// IsInvalid reports whether the view is not accepted.
func IsInvalid(err error) bool { return apierrors.IsInvalid(err) }

// IsNotServed reports whether the server knows no graphs at all: the operator is not registered
// with it.
func IsNotServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// graphs is the resource of a Status that the client makes from another answer.
var graphs = schema.GroupResource{Group: "stream.graphview.dev", Resource: "graphs"}

// mostText bounds the bytes that are read of an answer that is no graph.
const mostText = 64 << 10

// responseError returns the error of an answer without a graph.
func responseError(response *http.Response) error {
	// If the body cannot be read, the text is shorter; the code is known.
	text, _ := io.ReadAll(io.LimitReader(response.Body, mostText))
	var status metav1.Status
	if err := json.Unmarshal(text, &status); err == nil && status.Kind == "Status" && status.Code != 0 {
		return &apierrors.StatusError{ErrStatus: status}
	}
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return apierrors.NewGenericServerResponse(response.StatusCode, http.MethodGet, graphs, "",
		strings.TrimSpace(string(text)), after, true)
}

// whole reports whether a Status came from the server itself.
func whole(err error) bool {
	return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
