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
	errSilent = errors.New("the server sends nothing")
	errShort  = errors.New("the watch ended at once")
	errTorn   = errors.New("the watch ended twice within the same event, which may be larger than a proxy allows")
	errOutrun = errors.New("the version of the list was too old, time and again: the list takes longer than the server remembers what has changed")
)

// endedEarlyError is an answer that ended before the list in it did. An API server
// ends one like that after its --request-timeout: it resets the stream, or closes the
// connection, since the status code has long been sent.
type endedEarlyError struct {
	resource string
	objects  int
	bytes    int64
	took     time.Duration
	// page is how many objects were asked for, 0 for all.
	page  int64
	cause error
}

// Error says first what a person needs to know: a status shows some 200 characters.
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

// Unwrap lets the cause be sorted as any other.
func (e *endedEarlyError) Unwrap() error { return e.cause }

// unpaged reports whether the server sent more than a page.
func (e *endedEarlyError) unpaged() bool { return e.page > 0 && int64(e.objects) > e.page }

// size is a number of bytes for a person to read.
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

// endsEarly reports whether err ended an answer early. An answer that has not begun ended early
// if the server or a proxy gave up the list (504). The API server also answers 504 for a
// version that it does not have yet.
func endsEarly(err error, begun bool) bool {
	if !begun {
		return errors.Is(err, errSilent) || apierrors.IsTimeout(err) && !tooLarge(err)
	}
	if _, ok := errors.AsType[*statusError](err); ok {
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errSilent) || trouble(err) > 0
}

func tooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// statusError is a Status in the place of the rest of an answer. Its message is not
// told: it may be about an object.
type statusError struct {
	reason metav1.StatusReason
	code   int32
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d %s amid the list", e.code, e.reason)
}

var statusBegins = []byte(`{"kind":"Status",`)

// statusAmid returns an error for the Status that an API server writes where it finds that it
// cannot encode the rest of an answer, or nil. It follows on what there is of an object,
// at the end of what is in buffer and in r. It has begun in buffer: there may be nothing
// else to wait for.
func statusAmid(buffer []byte, r io.Reader) error {
	const longest = 16 << 10
	if !hasStatus(buffer) {
		return nil
	}
	// It may be of a Secret, so it is in one place that is cleared.
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

// connectionError is what happened to a connection, in place of an answer. Its
// text has numbers in it, of ports and streams, that differ from one attempt to
// the next: a status that changed with them would be written again and again.
type connectionError struct{ cause error }

// connectionFailed takes the URL off the error of a request: it names a version
// and a time-out that differ too.
func connectionFailed(request *url.Error) error { return &connectionError{request.Err} }

// Error is the cause's.
func (e *connectionError) Error() string { return e.cause.Error() }

// Unwrap lets client-go see a refused connection.
func (e *connectionError) Unwrap() error { return e.cause }

// trouble tells how much an error says of connections and answers that end: 0 if it is
// about something else. Of several in a row, the first that says most is told.
func trouble(err error) int {
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

// connectionReader tells a failure to read from what may be wrong with what was read.
type connectionReader struct{ io.Reader }

func (r connectionReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &connectionError{err}
	}
	return n, err
}

func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// orCause prefers why ctx was cancelled to what came of it. That something is no JSON did
// not come of it.
func orCause(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*malformedError](err); ok {
		return err
	}
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}
