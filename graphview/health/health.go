package health

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// State is the health of an object in one word.
type State string

// The states, from the best to the worst.
const (
	OK          State = "ok"          // as its spec wants it
	Suspended   State = "suspended"   // stopped on purpose, by a user or a controller
	Unknown     State = "unknown"     // it does not report its health
	Terminating State = "terminating" // it is being deleted
	Progressing State = "progressing" // on its way to its spec
	Degraded    State = "degraded"    // it failed, or does not reach its spec in time
)

// States are all states, from the best to the worst.
var States = []State{OK, Suspended, Unknown, Terminating, Progressing, Degraded}

// Severity orders states: a larger one needs attention sooner.
func (s State) Severity() int {
	if i := slices.Index(States, s); i >= 0 {
		return i
	}
	return slices.Index(States, Unknown)
}

// Patience is how long an object may be progressing or terminating before it counts as
// degraded.
const Patience = 10 * time.Minute

// maxReason is how many bytes a reason has at most.
const maxReason = 64

// Health is the health of one object.
type Health struct {
	// State is never empty.
	State State
	// Reason is a CamelCase word for the state, from the object's status where that has
	// one: CrashLoopBackOff, RollingOut. It has at most 64 letters, digits, dots, dashes
	// and underscores. It is empty where the counts say enough.
	Reason string
	// Ready of Wanted parts are ready, such as the pods of a Deployment or the
	// containers of a Pod. Both are valid only if Counted is true.
	Ready, Wanted int64
	Counted       bool
	// Since is when the state began, in seconds since 1970, and 0 if the object does
	// not say.
	Since int64
	// Overdue is when the object becomes degraded unless it changes, in seconds since
	// 1970, and 0 for never.
	Overdue int64
	// Ended reports that the object has ended and is of no account while its controller is
	// ok: a pod that failed or was evicted.
	Ended bool
	// Untimed reports that the object has to become degraded after Patience but does not
	// say since when it is as it is: see [Health.Seen].
	Untimed bool
}

// At is the health at a time at which the object is still the same.
func (h Health) At(now time.Time) Health {
	if h.Overdue == 0 || now.Unix() < h.Overdue {
		return h
	}
	if h.State == Terminating {
		h.Reason = cmp.Or(h.Reason, "Terminating")
	}
	h.State, h.Overdue = Degraded, 0
	return h
}

// Seen sets the deadline of an untimed health from the time, in seconds since 1970, at
// which the object was first seen in this state. Other healths are returned unchanged.
func (h Health) Seen(first int64) Health {
	if h.Untimed {
		h.Overdue, h.Untimed = first+int64(Patience/time.Second), false
	}
	return h
}

// Declared is the health that a ReferenceRule declares.
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

// endless removes the deadline: the object may be in this state for days.
func (h Health) endless() Health {
	h.Overdue, h.Untimed = 0, false
	return h
}

func ok() Health { return Health{State: OK} }

func degraded(reason string, since int64) Health {
	return Health{State: Degraded, Reason: word(reason), Since: since}
}

// progressing becomes degraded Patience after since, in seconds since 1970. 0 makes it
// untimed.
func progressing(reason string, since int64) Health {
	h := Health{State: Progressing, Reason: word(reason), Since: since, Untimed: since == 0}
	if since != 0 {
		h.Overdue = since + int64(Patience/time.Second)
	}
	return h
}

// word cuts foreign text where it stops being a reason.
func word(reason string) string {
	end := strings.IndexFunc(reason, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
	if end >= 0 {
		reason = reason[:end]
	}
	return reason[:min(len(reason), maxReason)]
}
