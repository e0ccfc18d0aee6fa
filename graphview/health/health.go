package health

import (
	"cmp"
	"slices"
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
	if !slices.Contains(States, s) {
		s = Unknown
	}
	return slices.Index(States, s)
}

// Patience is how long an object may be progressing or terminating before it counts as degraded.
const Patience = 10 * time.Minute

// maxReason is the maximum length of a reason in bytes.
const maxReason = 64

// Health is the health of one object.
type Health struct {
	// State is never empty.
	State State
	// Reason is a CamelCase word for the state, from the object's status if that has one:
	// CrashLoopBackOff, RollingOut. It has at most 64 letters, digits, dots, dashes and underscores. It
	// is empty if the counts say enough.
	Reason string
	// Ready of Wanted parts are ready, such as the pods of a Deployment or the containers of a Pod.
	// Both are valid only if Counted is true.
	Ready, Wanted int64
	Counted       bool
	// Since is when the state began, in seconds since 1970, and 0 if the object does not say.
	Since int64
	// Overdue is when the object becomes degraded unless it changes, in seconds since 1970, and 0
	// for never. An object that is OK has one if it expires.
	Overdue int64
	// Ended reports that the object has ended and does not matter while its controller is ok: a pod that
	// failed or was evicted.
	Ended bool
	// Untimed reports that the object becomes degraded after Patience, but does not say when its state
	// began: see [Health.WithDeadlineFrom].
	Untimed bool
}

// At returns the health at a time, if the object has not changed since.
func (h Health) At(now time.Time) Health {
	if h.Overdue == 0 || now.Unix() < h.Overdue {
		return h
	}
	switch h.State {
	case Terminating:
		h.Reason = cmp.Or(h.Reason, "Terminating")
	case OK:
		h.Reason = "Expired"
	default:
	}
	h.State, h.Overdue = Degraded, 0
	return h
}

// WithDeadlineFrom sets the deadline of an untimed health from the time, in seconds since 1970, at which the object
// was first seen in this state. It returns other healths unchanged.
func (h Health) WithDeadlineFrom(first int64) Health {
	if h.Untimed {
		h.Overdue, h.Untimed = deadline(first), false
	}
	return h
}

// deadline returns the end of Patience for a state that began at since, 0 if since is not known.
func deadline(since int64) int64 {
	if since == 0 {
		return 0
	}
	return since + int64(Patience/time.Second)
}

// Declared returns a health, as a ReferenceRule declares it. An object that is progressing becomes
// degraded Patience after since, in seconds since 1970. If since is 0, the health is untimed.
func Declared(state State, reason string, since int64) Health {
	h := Health{State: state, Reason: word(reason), Since: since}
	if state == Progressing {
		h.Overdue, h.Untimed = deadline(since), since == 0
	}
	return h
}

func ok() Health { return Health{State: OK} }

func degraded(reason string, since int64) Health { return Declared(Degraded, reason, since) }

func progressing(reason string, since int64) Health { return Declared(Progressing, reason, since) }

// notObserved returns the health of an object that its controller has not looked at yet.
func notObserved() Health { return progressing("NotObserved", 0) }

// endless removes the deadline: the object may be in this state for days.
func (h Health) endless() Health {
	h.Overdue, h.Untimed = 0, false
	return h
}

// worseOf returns the worse of two healths. Unknown, or no state at all, is better than any other.
func worseOf(h, other Health) Health {
	if other.State != "" && other.State != Unknown && (h.State == Unknown || other.State.Severity() > h.State.Severity()) {
		return other
	}
	return h
}

// word cuts a text at the first character that a reason cannot have, and to maxReason.
func word(reason string) string {
	for i, r := range reason {
		if i == maxReason || (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_' {
			return reason[:i]
		}
	}
	return reason
}
