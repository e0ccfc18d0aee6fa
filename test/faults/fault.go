package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fault changes some requests. Its effects happen in the order of the
// fields.
type Fault struct {
	// Verbs are of list, watch, discover and get; Resources are plural names.
	// Empty means all. Discovery has no resource.
	Verbs, Resources []string
	// Chance is the probability that the fault hits a request, 1 for all requests.
	Chance float64

	// Delay is the longest delay of a request.
	Delay time.Duration
	// Code is the status code of a response in place of the API server's.
	Code int
	// Expire answers a watch with the API server's event that its position is too
	// old.
	Expire bool
	// Truncate is the most bytes of a response: with Clean it then ends in order,
	// otherwise the stream breaks.
	Truncate int
	Clean    bool
	// Longest is the size of a response above which its stream breaks.
	Longest int
	// Stall holds back the bytes of all responses, also after they have begun, until the
	// fault is healed.
	Stall bool
	// Sent and Answered change the body of a request, and of its response, unless that is a
	// watch. They get JSON and return JSON.
	Sent, Answered func(body []byte) []byte
}

// hits reports whether the fault applies to a request.
func (f *Fault) hits(verb, resource string) bool {
	return (len(f.Verbs) == 0 || slices.Contains(f.Verbs, verb)) &&
		(len(f.Resources) == 0 || slices.Contains(f.Resources, resource))
}

// String describes the effects and the requests in a few words.
func (f *Fault) String() string {
	var effects []string
	add := func(set bool, format string, args ...any) {
		if set {
			effects = append(effects, fmt.Sprintf(format, args...))
		}
	}
	add(f.Delay > 0, "delay %s", f.Delay)
	add(f.Code != 0, "answer %d", f.Code)
	add(f.Expire, "expire")
	add(f.Truncate > 0 && f.Clean, "end after %d B", f.Truncate)
	add(f.Truncate > 0 && !f.Clean, "break after %d B", f.Truncate)
	add(f.Longest > 0, "break what has more than %d B", f.Longest)
	add(f.Stall, "stall")
	add(f.Sent != nil, "rewrite")
	add(f.Answered != nil, "rewrite answers to")
	what := strings.Join(effects, ", ")
	if len(f.Verbs) > 0 {
		what += " " + strings.Join(f.Verbs, "+")
	}
	if len(f.Resources) > 0 {
		what += " of " + strings.Join(f.Resources, "+")
	}
	return fmt.Sprintf("%s (%.0f%%)", what, 100*f.Chance)
}
