package watch

import (
	"errors"
	"io"
	"net/url"
)

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
