package panics

import (
	"fmt"
	"runtime"
	"strings"
)

// depth is the maximum number of calls in Error.Stack.
const depth = 64

// Error is a recovered panic.
type Error struct {
	// At is the file and line of the panic.
	At string
	// Cause is the message of a runtime error, without numbers. For another value it is only the type,
	// because the value may contain parts of an object.
	Cause string
	// Stack has one line per call, the innermost first.
	Stack []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("internal error at %s; the operator's log has more, please report it", e.At)
}

// Recover stores a panic as an *Error in err. It works only if it is deferred directly. Without
// a panic it does not change err.
func Recover(err *error) {
	if value := recover(); value != nil {
		*err = newError(value)
	}
}

func newError(value any) *Error {
	e := &Error{At: "an unknown place", Cause: fmt.Sprintf("panic with a %T", value)}
	if said, ok := value.(runtime.Error); ok {
		e.Cause = cause(said)
	}
	var calls [depth]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(1, calls[:])])
	raised := false
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		switch {
		case !raised:
			// These calls are newError, Recover and gopanic.
			raised = frame.Function == "runtime.gopanic"
		case len(e.Stack) == 0 && strings.HasPrefix(frame.Function, "runtime."):
			// The runtime raised the panic in these calls.
		default:
			at := fmt.Sprintf("%s:%d", short(frame.File), frame.Line)
			if len(e.Stack) == 0 {
				e.At = at
			}
			e.Stack = append(e.Stack, frame.Function+" "+at)
		}
	}
	return e
}

// cause replaces the digits in the message of the runtime: an index may have been computed from
// the object.
func cause(said runtime.Error) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '#'
		}
		return r
	}, said.Error())
}

// short returns the last three elements of a path, such as graphview/panics/panics.go.
func short(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-3):], "/")
}
