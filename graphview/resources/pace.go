package resources

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	defaultPollInterval = 30 * time.Second

	// minGap bounds the rate of discoveries while signals keep coming, as during the installation
	// of hundreds of CustomResourceDefinitions.
	minGap = 500 * time.Millisecond
)

// settle are the intervals between the discoveries that follow a signal. A
// CustomResourceDefinition is in the discovery documents a moment after it is established, an
// APIService after the API server has called its backend. Each step that changes an object is
// another signal, and starts again at the first interval. A deletion has no such step: the last
// event of the object comes before the documents change. An API server that is busy, or that has
// just started, changes the documents many seconds later.
var settle = [...]time.Duration{
	500 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
	8 * time.Second, 16 * time.Second,
}

// pace decides when to discover next. It has no clock: it is told the time.
type pace struct {
	poll    time.Duration
	next    time.Time // of the next discovery
	last    time.Time // when the last one ended
	settled int       // how many of settle have passed since the last signal
	backoff *wait.Backoff
}

// newPace starts with a discovery at once and then polls.
func newPace(now time.Time, poll time.Duration) *pace {
	return &pace{poll: poll, next: now, settled: len(settle)}
}

// signalled records a signal.
func (p *pace) signalled(now time.Time) {
	p.settled = 0
	soon := now
	if !p.last.IsZero() && soon.Before(p.last.Add(minGap)) {
		soon = p.last.Add(minGap)
	}
	if soon.Before(p.next) {
		p.next = soon
	}
}

// discovered records the end of a discovery. ok: it worked.
func (p *pace) discovered(now time.Time, ok bool) {
	p.last = now
	switch {
	case !ok:
		if p.backoff == nil {
			p.backoff = newBackoff(min(p.poll, defaultPollInterval))
		}
		p.next = now.Add(p.backoff.Step())
		return
	case p.settled < len(settle):
		p.next = now.Add(min(settle[p.settled], p.poll))
		p.settled++
	default:
		p.next = now.Add(wait.Jitter(p.poll, 0.1))
	}
	p.backoff = nil
}

// newBackoff doubles from half a second up to limit, with jitter, so that the
// replicas of an operator do not come back together.
func newBackoff(limit time.Duration) *wait.Backoff {
	const steps = 32 // more than doublings to any sensible limit
	return &wait.Backoff{Duration: min(minGap, limit), Factor: 2, Jitter: 0.2, Steps: steps, Cap: limit}
}
