package resources

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	defaultPollInterval = 30 * time.Second

	// minGap is the minimum time between a discovery and the next one after a signal. It limits the
	// rate while, for example, hundreds of CustomResourceDefinitions are installed.
	minGap = 500 * time.Millisecond
)

// schedule decides when to discover next. It has no clock: callers pass the time.
type schedule struct {
	poll    time.Duration
	next    time.Time // time of the next discovery
	last    time.Time // end of the last discovery
	failing bool      // the last discovery failed

	// backoff has the times until the next discoveries. It begins again after a signal, because the documents
	// follow the objects late: a CustomResourceDefinition is in them a moment after it is established, an
	// APIService after the API server has called its backend. After a deletion there is no further signal: the
	// last event of the object comes before the documents change. An API server that is busy, or has just
	// started, updates the documents many seconds later.
	backoff wait.Backoff
}

// newSchedule returns a schedule whose first discovery is due now. Without signals it then polls.
func newSchedule(now time.Time, poll time.Duration) *schedule {
	return &schedule{poll: poll, next: now, backoff: polls(poll)}
}

func (s *schedule) signalled(now time.Time) {
	if !s.failing {
		s.backoff = newBackoff(s.poll)
	}
	soon := now
	if !s.last.IsZero() && soon.Before(s.last.Add(minGap)) {
		soon = s.last.Add(minGap)
	}
	if soon.Before(s.next) {
		s.next = soon
	}
}

// discovered records the end of a discovery. ok means that it succeeded.
func (s *schedule) discovered(now time.Time, ok bool) {
	switch changed := ok == s.failing; {
	case changed && ok:
		s.backoff = polls(s.poll)
	case changed: // however rarely it polls, a discovery that failed is repeated soon
		s.backoff = newBackoff(min(s.poll, defaultPollInterval))
	}
	s.failing, s.last, s.next = !ok, now, now.Add(s.backoff.Step())
}

// polls returns the times between polls.
func polls(every time.Duration) wait.Backoff { return wait.Backoff{Duration: every, Jitter: 0.1} }

// newBackoff returns a back-off that doubles from half a second up to limit. Its jitter keeps
// the replicas of an operator from retrying at the same time.
func newBackoff(limit time.Duration) wait.Backoff {
	const steps = 32 // more doublings than any sensible limit needs
	return wait.Backoff{Duration: min(minGap, limit), Factor: 2, Jitter: 0.1, Steps: steps, Cap: limit}
}
