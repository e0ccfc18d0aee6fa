package rights

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

const (
	// recheckedAtOnce bounds the re-checks at the same time, and
	// recheckedPerUser those of one user. Their questions take turns by
	// user: see package access.
	recheckedAtOnce  = 256
	recheckedPerUser = 4
	// passes is the most searches for due identities in an interval.
	passes = 600
	// appliedAtOnce is the number of places whose answers take effect together: an identity may have so many that a
	// re-check takes minutes.
	appliedAtOnce = 1000
)

// Run re-checks the identities that have streams until ctx is done: one loop for all of them, each identity an
// interval after its last re-check has ended. Under load the limit of questions a second makes that longer.
func (p *Permissions) Run(ctx context.Context) {
	var group errgroup.Group
	// A failed re-check is counted, and does not end the loop.
	defer func() { _ = group.Wait() }()
	for ctx.Err() == nil {
		p.forget()
		due, wait := p.due()
		for _, i := range due {
			group.Go(func() error {
				defer p.done(i)
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

// due returns the identities that are due and that there is room for, marked as busy, and how
// long to wait for the next ones. The longest waiting comes first. An identity is due at most
// once an interval.
func (p *Permissions) due() ([]*identity, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, wait := time.Now(), p.o.Interval
	var due []*identity
	since := make(map[*identity]time.Time)
	unchecked := p.leases
	for _, i := range p.identities {
		i.mu.Lock()
		unchecked -= len(i.leases)
		left := i.checked.Add(p.o.Interval).Sub(now)
		switch {
		case i.busy:
		case left > 0:
			// An identity without streams counts too, since it may have some again by then.
			wait = min(wait, left)
		case len(i.leases) > 0:
			due = append(due, i)
			since[i] = i.checked
		}
		i.mu.Unlock()
	}
	p.o.Unchecked(unchecked)
	slices.SortFunc(due, func(a, b *identity) int { return since[a].Compare(since[b]) })
	begun := slices.DeleteFunc(slices.Clone(due), func(i *identity) bool { return !p.beginLocked(i) })
	if len(begun) < len(due) {
		wait = 0 // for the others
	}
	return begun, max(wait, p.o.Interval/passes)
}

// beginLocked makes an identity busy, if there is room for it.
func (p *Permissions) beginLocked(i *identity) bool {
	if p.busy >= recheckedAtOnce || p.checking[i.owner] >= recheckedPerUser {
		return false
	}
	p.busy++
	p.checking[i.owner]++
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy = true
	return true
}

// done marks an identity as not busy.
func (p *Permissions) done(i *identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.checking[i.owner]--; p.checking[i.owner] == 0 {
		delete(p.checking, i.owner)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy = false
}

// recheck asks about one identity again: whether its streams may go on, and
// then about the places that they show.
func (p *Permissions) recheck(ctx context.Context, i *identity) {
	places, graphs := i.questions()
	may, err := p.o.Calm.All(ctx, i.who, graphs)
	for _, l := range i.holding() {
		if allowed, known := may[l.Right]; known && !allowed {
			l.End(&delivery.ClosedError{
				Reason:  reason.Forbidden,
				Message: fmt.Sprintf("you may no longer %s", l.Doing),
			})
		}
	}
	if err == nil {
		err = p.identify(ctx, i)
	}
	if err == nil {
		err = p.renew(ctx, i, places)
	}
	if ctx.Err() == nil {
		// The end of ctx says nothing about the identity.
		p.conclude(i, err)
	}
}

// renew asks about places again, and forgets answers that are not renewed in time.
func (p *Permissions) renew(ctx context.Context, i *identity, places []access.Place) error {
	asking := ctx
	if p.o.Within > 0 {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, p.o.Within)
		defer cancel()
	}
	// Wide places come first, since answers about narrower ones count only with theirs.
	slices.SortFunc(places, func(a, b access.Place) int { return cmp.Compare(a.Namespace, b.Namespace) })
	for len(places) > 0 {
		together := places[:min(len(places), appliedAtOnce)]
		answers, err := p.o.Calm.Watchable(asking, i.who, together)
		i.apply(answers)
		switch {
		case err == nil:
			places = places[len(together):]
		case asking.Err() != nil && ctx.Err() == nil:
			i.mu.Lock()
			defer i.mu.Unlock()
			i.loseLocked(places)
			return nil
		default:
			return err
		}
	}
	return nil
}

// identify ends the streams whose credentials no longer belong to their
// identity. The error means that the API server did not answer.
func (p *Permissions) identify(ctx context.Context, i *identity) error {
	for _, l := range i.holding() {
		if l.Credentials == nil {
			continue
		}
		stands, err := l.Credentials.Valid(ctx, i.key)
		if err != nil {
			return err
		}
		if !stands {
			l.End(&delivery.ClosedError{
				Reason: reason.Unauthorized, Message: "your credentials are no longer valid: they expired or were revoked",
			})
		}
	}
	return nil
}

// holding returns the leases of an identity.
func (i *identity) holding() []*Lease {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make([]*Lease, 0, len(i.leases))
	for l := range i.leases {
		all = append(all, l)
	}
	return all
}

// conclude records the result of a re-check. After too many consecutive failures the
// leases end, and the last answers are forgotten.
func (p *Permissions) conclude(i *identity, err error) {
	now := time.Now()
	i.mu.Lock()
	p.o.Rechecked(now.Sub(i.checked))
	i.checked = now
	i.failed++
	if err == nil {
		i.confirmed, i.failed = now, 0
	}
	outdated := i.failed >= p.o.MaxFailed
	if outdated {
		i.loseLocked(i.answers.places())
	}
	i.mu.Unlock()
	if !outdated {
		return
	}
	for _, l := range i.holding() {
		l.End(&delivery.ClosedError{
			Reason:  reason.Unavailable,
			Message: fmt.Sprintf("your permissions could not be checked for %s; try again later", p.lastFor()),
		})
	}
}
