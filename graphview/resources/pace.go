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

// settleIntervals has the intervals between the discoveries that follow a signal. A
// CustomResourceDefinition is in the discovery documents a moment after it is established, an
// APIService after the API server has called its backend. Each change of the object is another
// signal, which starts again at the first interval. After a deletion there is no further signal:
// the last event of the object comes before the documents change. An API server that is busy, or
// has just started, updates the documents many seconds later.
var settleIntervals = [...]time.Duration{
	500 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
	8 * time.Second, 16 * time.Second,
}

// schedule decides when to discover next. It has no clock: callers pass the time.
type schedule struct {
	poll       time.Duration
	next       time.Time // time of the next discovery
	last       time.Time // end of the last discovery
	settleStep int       // number of intervals of settle used since the last signal
	backoff    *wait.Backoff
}

// newPace returns a pace whose first discovery is due now. Without signals it then polls.
func newPace(now time.Time, poll time.Duration) *schedule {
	return &schedule{poll: poll, next: now, settleStep: len(settleIntervals)}
}

func (p *schedule) signalled(now time.Time) {
	p.settleStep = 0
	soon := now
	if !p.last.IsZero() && soon.Before(p.last.Add(minGap)) {
		soon = p.last.Add(minGap)
	}
	if soon.Before(p.next) {
		p.next = soon
	}
}

// discovered records the end of a discovery. ok means that it succeeded.
func (p *schedule) discovered(now time.Time, ok bool) {
	p.last = now
	switch {
	case !ok:
		if p.backoff == nil {
			p.backoff = newBackoff(min(p.poll, defaultPollInterval))
		}
		p.next = now.Add(p.backoff.Step())
		return
	case p.settleStep < len(settleIntervals):
		p.next = now.Add(min(settleIntervals[p.settleStep], p.poll))
		p.settleStep++
	default:
		p.next = now.Add(wait.Jitter(p.poll, 0.1))
	}
	p.backoff = nil
}

// newBackoff returns a back-off that doubles from half a second up to limit. Its jitter keeps
// the replicas of an operator from retrying at the same time.
func newBackoff(limit time.Duration) *wait.Backoff {
	const steps = 32 // more doublings than any sensible limit needs
	return &wait.Backoff{Duration: min(minGap, limit), Factor: 2, Jitter: 0.2, Steps: steps, Cap: limit}
}
