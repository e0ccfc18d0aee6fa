package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fault changes some requests. The effects that are set happen in the order of the
// fields.
type Fault struct {
	// Verbs are of list, watch, discover and get; Resources are plural names.
	// Empty means all. Discovery has no resource.
	Verbs, Resources []string
	// Chance of a request to be hit, 1 for all.
	Chance float64

	// Delay holds a request back for up to that long.
	Delay time.Duration
	// Code is answered in place of the API server, as it would.
	Code int
	// Expire answers a watch with the event that says that its position is too
	// old, as the API server does.
	Expire bool
	// Truncate ends an answer after at most so many bytes: Clean as if it were
	// all there is, else by breaking the stream.
	Truncate int
	Clean    bool
	// Longest breaks the answers that have more bytes.
	Longest int
	// Stall holds the bytes of answers back, those under way too, until the
	// fault is healed.
	Stall bool
	// Sent and Answered change the body of a request, and of its answer, which is no
	// watch's. They get JSON and return JSON.
	Sent, Answered func(body []byte) []byte
}

// hits reports whether the fault applies to a request.
func (f *Fault) hits(verb, resource string) bool {
	return (len(f.Verbs) == 0 || slices.Contains(f.Verbs, verb)) &&
		(len(f.Resources) == 0 || slices.Contains(f.Resources, resource))
}

// String says in a few words what happens to what.
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
