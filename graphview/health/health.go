package health

import (
	"strings"
	"time"
)

// State is how an object is, in one word.
type State string

// The states, from the best to the worst.
const (
	// OK: the object is as its spec wants it.
	OK State = "ok"
	// Suspended: somebody stopped it on purpose.
	Suspended State = "suspended"
	// Unknown: the object does not say how it is.
	Unknown State = "unknown"
	// Terminating: the object is being deleted.
	Terminating State = "terminating"
	// Progressing: the object is on its way to what its spec wants.
	Progressing State = "progressing"
	// Degraded: the object failed, or does not get where its spec wants it.
	Degraded State = "degraded"
)

// States are all states, from the best to the worst.
var States = []State{OK, Suspended, Unknown, Terminating, Progressing, Degraded}

// Severity orders states: a larger one needs somebody's attention sooner.
func (s State) Severity() int {
	for i, known := range States {
		if s == known {
			return i
		}
	}
	return Unknown.Severity()
}

// Patience is how long a condition may say that an object is not ready before
// the object counts as degraded.
const Patience = 10 * time.Minute

// maxReason is how many bytes a reason has at most.
const maxReason = 64

// Health is how one object is.
type Health struct {
	// State is never empty.
	State State
	// Reason is a word for the state, as the object's status has it or, where that
	// has none, as kstatus says it: CrashLoopBackOff, LessReady. It has at most 64
	// letters, digits, dots, dashes and underscores, and may be empty.
	Reason string
	// Ready of Wanted parts are ready, such as the pods of a Deployment or the
	// containers of a Pod. Both mean something only where Counted is true.
	Ready, Wanted int64
	Counted       bool
	// Since is when the state began, in seconds since 1970, and 0 if the object does
	// not say.
	Since int64
	// Overdue is from when on, in seconds since 1970, the object counts as degraded
	// if it stays as it is, and 0 for never.
	Overdue int64
}

// At is the health at a time at which the object is still the same.
func (h Health) At(now time.Time) Health {
	if h.Overdue != 0 && now.Unix() >= h.Overdue {
		h.State, h.Overdue = Degraded, 0
	}
	return h
}

// Declared is the health that a rule of somebody's own says.
func Declared(state State, reason string, since int64) Health {
	if state == Progressing {
		return progressing(reason, since)
	}
	return Health{State: state, Reason: word(reason), Since: since}
}

func (h Health) counted(ready, wanted int64) Health {
	h.Ready, h.Wanted, h.Counted = ready, wanted, true
	return h
}

func ok(reason string) Health       { return Health{State: OK, Reason: word(reason)} }
func degraded(reason string) Health { return Health{State: Degraded, Reason: word(reason)} }

// progressing is overdue once it has lasted for longer than Patience, if it is
// known since when.
func progressing(reason string, since int64) Health {
	h := Health{State: Progressing, Reason: word(reason), Since: since}
	if since != 0 {
		h.Overdue = since + int64(Patience/time.Second)
	}
	return h
}

// word makes what an object gives as a reason a word: foreign text is cut where
// it stops being one.
func word(reason string) string {
	end := strings.IndexFunc(reason, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
	if end >= 0 {
		reason = reason[:end]
	}
	return reason[:min(len(reason), maxReason)]
}
