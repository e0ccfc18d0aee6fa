package panics

import (
	"fmt"
	"runtime"
	"strings"
)

// depth is how many calls a stack has at most.
const depth = 64

// Error is a panic that was recovered.
type Error struct {
	// At is the place of the panic: file and line.
	At string
	// Cause is what the runtime said of it, or the type of the panic's value where
	// somebody else panicked: such a value may hold anything.
	Cause string
	// Stack has one line per call, the innermost first.
	Stack []string
}

func (e *Error) Error() string {
	return fmt.Sprintf("internal error at %s; the operator's log has more, please report it", e.At)
}

// Recover makes a panic an *Error in err. It has to be deferred itself, or it
// recovers nothing. Without a panic it leaves err alone.
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
			// What comes before is this package's.
			raised = frame.Function == "runtime.gopanic"
		case len(e.Stack) == 0 && strings.HasPrefix(frame.Function, "runtime."):
			// The runtime's own way to panic.
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

// cause is what the runtime says, without the numbers in it: an index may have
// been computed from what an object holds.
func cause(said runtime.Error) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '#'
		}
		return r
	}, said.Error())
}

// short is the end of a file's path: the package's directory and the file.
func short(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-3):], "/")
}
