package watch

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// resetAfter is how long a watch must last so that the back-off starts over.
const resetAfter = 2 * time.Second

// retry is the back-off of a Watch. It starts over after a watch that lasted as
// long as the delay before it, or resetAfter if that is shorter. The reflector's own
// back-off starts over only after two minutes without a failure, so after a few
// failures in a minute even a short failure costs the longest delay. The reflector
// is given only the first delay of this schedule.
type retry struct {
	schedule wait.Backoff // at its start
	next     wait.Backoff
	delay    time.Duration // last delay, 0 after a success
	due      time.Time     // time of the next request
	// expired: a resource version was too old since the back-off started over.
	expired bool
}

func newRetry(schedule wait.Backoff) retry { return retry{schedule: schedule, next: schedule} }

// first returns the back-off for the reflector.
func (r *retry) first() *wait.Backoff {
	return &wait.Backoff{Duration: r.schedule.Duration, Jitter: r.schedule.Jitter}
}

// failed records that a request, or a watch in progress, failed. The first failure
// because of an old resource version causes no delay: it is normal after a long
// interruption. Another one before the back-off starts over does.
func (r *retry) failed(err error, now time.Time) {
	if expired(err) && !r.expired {
		r.expired = true
		return
	}
	r.delay = r.next.Step()
	r.due = now.Add(r.delay)
}

func (r *retry) watchLasted(d time.Duration) {
	if d >= max(r.schedule.Duration, min(r.delay, resetAfter)) {
		*r = newRetry(r.schedule)
	}
}

func (r *retry) wait(ctx context.Context) error {
	d := time.Until(r.due)
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
