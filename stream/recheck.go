package stream

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// recheckedAtOnce bounds the identities that are asked about at once.
const recheckedAtOnce = 4

// run checks again, until ctx is done, what was answered about identities that
// have streams: one loop for all, each identity an interval after the last time
// it was done with. A limit on questions per second lengthens that under load.
func (p *permissions) run(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(recheckedAtOnce)
	// What could not be asked is counted, and is no error of the loop's.
	defer func() { _ = group.Wait() }()
	for ctx.Err() == nil {
		p.forget()
		due, wait := p.due()
		for _, i := range due {
			group.Go(func() error {
				p.recheck(ctx, i)
				return nil
			})
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// due returns the identities whose time has come, which are busy from then on,
// and how long the others have. Nobody who comes meanwhile, or is done with, is
// due before an interval has passed.
func (p *permissions) due() ([]*identity, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, wait := time.Now(), p.interval
	var due []*identity
	unchecked := p.leases
	for _, i := range p.identities {
		i.mu.Lock()
		unchecked -= len(i.leases)
		left := i.checked.Add(p.interval).Sub(now)
		switch {
		case i.busy:
		case left > 0:
			// Also of one without streams: it may have some again by then.
			wait = min(wait, left)
		case len(i.leases) > 0:
			i.busy = true
			due = append(due, i)
		}
		i.mu.Unlock()
	}
	p.metrics.unchecked.Set(float64(unchecked))
	return due, wait
}

// recheck asks about one identity again: whether its streams may go on, and
// then what they may show.
func (p *permissions) recheck(ctx context.Context, i *identity) {
	places, graphs := i.questions()
	may, err := p.calm.questions(ctx, i.who, graphs)
	for _, l := range i.holding() {
		if allowed, known := may[l.right]; known && !allowed {
			l.end(&graphview.ClosedError{
				Reason:  reason.Forbidden,
				Message: fmt.Sprintf("you may no longer %s", l.right),
			})
		}
	}
	if err == nil {
		err = p.identify(ctx, i)
	}
	if err == nil {
		var answers map[graphview.Place]bool
		answers, err = p.calm.places(ctx, i.who, places)
		i.apply(answers)
	}
	if ctx.Err() == nil {
		// Nothing is concluded from being stopped.
		p.conclude(i, err)
	}
}

// identify ends the streams whose credentials no longer stand for their
// identity. The error is that the API server cannot say.
func (p *permissions) identify(ctx context.Context, i *identity) error {
	for _, l := range i.holding() {
		if l.credentials == nil {
			continue
		}
		stands, err := l.credentials.stand(ctx, p.authenticator, i.key)
		if err != nil {
			return err
		}
		if !stands {
			l.end(&graphview.ClosedError{
				Reason: reason.Unauthorized, Message: "your credentials are no longer valid: they expired or were revoked",
			})
		}
	}
	return nil
}

// holding are an identity's leases.
func (i *identity) holding() []*lease {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make([]*lease, 0, len(i.leases))
	for l := range i.leases {
		all = append(all, l)
	}
	return all
}

// conclude notes how a re-check went. When it has failed too often in a row, the
// streams end.
func (p *permissions) conclude(i *identity, err error) {
	now := time.Now()
	i.mu.Lock()
	p.metrics.rechecked(now.Sub(i.checked))
	i.checked, i.busy = now, false
	i.failed++
	if err == nil {
		i.confirmed, i.failed = now, 0
	}
	failed := i.failed
	i.mu.Unlock()
	if failed < maxFailed {
		return
	}
	for _, l := range i.holding() {
		l.end(&graphview.ClosedError{
			Reason:  reason.Unavailable,
			Message: fmt.Sprintf("your permissions could not be checked for %s; try again later", maxFailed*p.interval),
		})
	}
}
