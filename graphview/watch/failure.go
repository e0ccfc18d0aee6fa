package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	errIdleTimeout  = errors.New("the server sends nothing")
	errShort        = errors.New("the watch ended at once")
	errEndedInEvent = errors.New("the watch ended twice within the same event, which may be larger than a proxy allows")
	errOutrun       = errors.New("the version of the list was too old, time and again: the list takes longer than the server remembers what has changed")
)

// endedEarlyError means that a response ended before its list was complete. At its
// --request-timeout, an API server resets the stream or closes the connection, because
// it has already sent the status code.
type endedEarlyError struct {
	resource string
	objects  int
	bytes    int64
	took     time.Duration
	// page is the limit of the request, 0 for all objects.
	page  int64
	cause error
}

// Error begins with the facts that users need, because a status shows some 200 characters.
func (e *endedEarlyError) Error() string {
	what, next := "the list of ", "goes on in pages"
	switch {
	case e.unpaged():
		next = fmt.Sprintf("does not come in pages of %d objects as asked for", e.page)
	case e.page > 0:
		what, next = "a page of the list of ", "is asked for again, with fewer objects"
	}
	return fmt.Sprintf("%s%s ended early after %d objects (%s, %s) and %s: the API server, at its --request-timeout, a proxy or the network ended it (%s)",
		what, e.resource, e.objects, size(e.bytes), e.took.Round(100*time.Millisecond), next, e.cause)
}

// Unwrap returns the cause, from which reasonFor finds the Reason.
func (e *endedEarlyError) Unwrap() error { return e.cause }

// unpaged reports whether the server sent more objects than the limit of the page.
func (e *endedEarlyError) unpaged() bool { return e.page > 0 && int64(e.objects) > e.page }

// size formats a number of bytes for users.
func size(bytes int64) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	default:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	}
}

// endsEarly reports whether err ended a response early. A response that has not begun ended early
// if the server was silent, or it or a proxy gave up the list (504). The API server also answers
// 504 for a resource version that it does not have yet (tooLarge), which is not early.
func endsEarly(err error, begun bool) bool {
	if !begun {
		return errors.Is(err, errIdleTimeout) || apierrors.IsTimeout(err) && !tooLarge(err)
	}
	if _, ok := errors.AsType[*statusError](err); ok {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errIdleTimeout) || connectionErrorRank(err) > 0
}

func tooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// statusError is a Status that the server sent instead of the rest of a response. It leaves
// out the message, which may quote an object.
type statusError struct {
	reason metav1.StatusReason
	code   int32
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d %s amid the list", e.code, e.reason)
}

var statusBegins = []byte(`{"kind":"Status",`)

// statusAmid returns an error if the rest of a response ends with a Status, otherwise nil. An
// API server writes one, in the middle of an object, if it cannot encode the rest of the list.
// The Status must begin in buffer, or r is not read: a read could wait for data that never
// comes.
func statusAmid(buffer []byte, r io.Reader) error {
	const longest = 16 << 10
	if !hasStatus(buffer) {
		return nil
	}
	// The text may be part of a Secret, so it has one buffer, which is cleared.
	text := bytes.NewBuffer(make([]byte, 0, len(buffer)+longest+bytes.MinRead))
	defer func() { clear(text.Bytes()) }()
	text.Write(buffer)
	if _, err := io.Copy(text, io.LimitReader(r, longest)); err != nil {
		return nil
	}
	at := bytes.LastIndex(text.Bytes(), statusBegins)
	var status metav1.Status
	if at < 0 || json.Unmarshal(text.Bytes()[at:], &status) != nil || status.Status != metav1.StatusFailure {
		return nil
	}
	return &statusError{reason: status.Reason, code: status.Code}
}

// hasStatus reports whether a Status begins in text, or may begin at its end.
func hasStatus(text []byte) bool {
	if bytes.Contains(text, statusBegins) {
		return true
	}
	for n := len(statusBegins) - 1; n > 0; n-- {
		if bytes.HasSuffix(text, statusBegins[:n]) {
			return true
		}
	}
	return false
}

// connectionError is a failure of the connection. Its text contains port and stream
// numbers that differ with each attempt, so State.failed does not replace one by
// another: a status that showed each would be written again and again.
type connectionError struct{ cause error }

// connectionFailed removes the URL from the error of a request, because the version
// and the time-out in it differ with each attempt too.
func connectionFailed(request *url.Error) error { return &connectionError{request.Err} }

// Error returns the text of the cause.
func (e *connectionError) Error() string { return e.cause.Error() }

// Unwrap returns the cause, so that client-go recognizes a refused connection.
func (e *connectionError) Unwrap() error { return e.cause }

// connectionErrorRank ranks errors of connections by how much they explain, 0 for any other error. If
// several follow each other, State reports the first with the highest rank.
func connectionErrorRank(err error) int {
	early, ok := errors.AsType[*endedEarlyError](err)
	if ok && early.unpaged() {
		return 3
	}
	if ok {
		return 2
	}
	if _, ok := errors.AsType[*connectionError](err); ok {
		return 1
	}
	return 0
}

// connectionReader makes read errors connectionErrors, to distinguish them from JSON errors.
type connectionReader struct{ io.Reader }

func (r connectionReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &connectionError{err}
	}
	return n, err
}

func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// orIdleTimeout returns errIdleTimeout if that cancelled ctx, because err is then only its consequence.
// Malformed JSON is not a consequence, so a malformedError is returned as it is.
func orIdleTimeout(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*malformedError](err); ok {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errIdleTimeout) {
		return cause
	}
	return err
}
