package watch

import (
	"errors"
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

func lostConnection(err error) bool {
	_, ok := errors.AsType[*connectionError](err)
	return ok
}
