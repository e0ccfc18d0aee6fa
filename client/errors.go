package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/reason"
)

// CloseError is how a server ended a stream.
type CloseError struct {
	// Code is the one that a WebSocket is closed with.
	Code reason.Code `json:"code"`
	// CodeString names the code.
	CodeString string `json:"code_string"`
	// Reason is for programs; see its Remedy. "" where only a code was heard.
	Reason reason.Reason `json:"reason"`
	// Message is for people.
	Message string `json:"message"`
}

func (e *CloseError) Error() string {
	text := fmt.Sprintf("the server ended the stream (%d %s)", e.Code, e.Reason)
	if e.Reason == "" {
		text = fmt.Sprintf("the server ended the stream (%d)", e.Code)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Permanent tells whether err stays until somebody acts. A Subscription returns
// such errors, and waits and tries again after others. One that has had its graph
// also tries again when it is not let in: a new token, or a server that has started,
// may change that.
func Permanent(err error) bool {
	if closed, ok := errors.AsType[*CloseError](err); ok {
		// Where a token expired, there may be a new one. If not, the next connection
		// is refused.
		return reason.RemedyOf(closed.Reason, closed.Code) == reason.Stop
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		code := status.ErrStatus.Code
		return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
	}
	return false
}

// shutOut tells whether err is a refusal of a server, or of one before it, that does
// not know who we are, or not yet what we may do: one that starts refuses everybody
// for a moment.
func shutOut(err error) bool {
	if isExpired(err) {
		return true
	}
	return isStatus(err) && (apierrors.IsForbidden(err) || IsNotServed(err))
}

// isExpired tells whether a new token may mend err.
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

// IsNotFound tells whether there is no such graph, or no more.
func IsNotFound(err error) bool {
	if closed, ok := errors.AsType[*CloseError](err); ok {
		return closed.Reason == reason.Deleted || closed.Reason == reason.NotFound || closed.Reason == "" && closed.Code == reason.CodeNormal
	}
	return apierrors.IsNotFound(err) && !IsNotServed(err)
}

// IsForbidden tells whether the user may not open the graph.
func IsForbidden(err error) bool { return apierrors.IsForbidden(err) }

// IsInvalid tells whether the view is not accepted.
func IsInvalid(err error) bool { return apierrors.IsInvalid(err) }

// IsNotServed tells whether the server knows no graphs at all: nobody has
// registered the operator with it.
func IsNotServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// graphs is what a Status is about that a server did not say itself.
var graphs = schema.GroupResource{Group: "stream.graphview.dev", Resource: "graphs"}

// mostText bounds what is read of an answer that is no graph.
const mostText = 64 << 10

// refused is the error of an answer that is not the one hoped for.
func refused(response *http.Response) error {
	// What cannot be read is missing from the text below, the code is not.
	text, _ := io.ReadAll(io.LimitReader(response.Body, mostText))
	var status metav1.Status
	if err := json.Unmarshal(text, &status); err == nil && status.Kind == "Status" && status.Code != 0 {
		return &apierrors.StatusError{ErrStatus: status}
	}
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return apierrors.NewGenericServerResponse(response.StatusCode, http.MethodGet, graphs, "",
		strings.TrimSpace(string(text)), after, true)
}

// whole tells whether a Status came from the server itself.
func whole(err error) bool {
	return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
