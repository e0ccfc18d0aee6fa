package watch

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// steady is how long a watch has to last to prove that all is well again.
const steady = 2 * time.Second

// retry is how long a Watch waits after failures: longer with each, and from
// the start again after a watch that lasted as long as was waited for it, or
// steadily. The reflector's own schedule starts over only after two minutes
// without any failure, so that after a few in a minute each further one, however
// short, costs the longest delay. It is left with the first delay of ours.
type retry struct {
	schedule wait.Backoff // as it begins
	next     wait.Backoff
	delay    time.Duration // the last, 0 after a success
	due      time.Time     // of the next request
	// expired: the last watch's position was too old.
	expired bool
}

func newRetry(schedule wait.Backoff) retry { return retry{schedule: schedule, next: schedule} }

// first is the schedule for the reflector.
func (r *retry) first() *wait.Backoff {
	return &wait.Backoff{Duration: r.schedule.Duration, Jitter: r.schedule.Jitter}
}

// failed notes that a request, or a watch after it had begun, failed. That a
// position is too old is the usual end of a long absence, and more delay would
// make the absence longer; but not twice in a row, since a list came between.
func (r *retry) failed(err error, now time.Time) {
	if expired(err) && !r.expired {
		r.expired = true
		return
	}
	r.delay = r.next.Step()
	r.due = now.Add(r.delay)
}

// lasted notes how long a watch did.
func (r *retry) lasted(d time.Duration) {
	if d >= max(r.schedule.Duration, min(r.delay, steady)) {
		*r = newRetry(r.schedule)
	}
}

// wait waits until the next request is due.
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
