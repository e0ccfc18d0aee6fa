package rights

import (
	"cmp"
	"container/list"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

const (
	// maxIdle bounds the identities without streams, and maxIdlePlaces the answers about
	// all of them: some 10 MiB.
	maxIdle       = 1000
	maxIdlePlaces = 200_000
	// refreshWithin bounds how long a resuming stream waits until its answers are confirmed.
	refreshWithin = 10 * time.Second
)

// Permissions knows the rights of the identities that have leases, and asks
// again after every interval. Lock order: mu, then that of an identity.
type Permissions struct {
	o      Options
	secret []byte

	mu         sync.Mutex
	identities map[string]*identity
	// idle are the identities without leases, longest idle first; idlePlaces counts their
	// answers.
	idle       list.List
	idlePlaces int
	// busy counts the running re-checks, and checking those
	// of each owner.
	busy     int
	checking map[budget.Owner]int
	// leases counts the leases that are not released. Each belongs to an
	// identity in identities, which the re-checks go through.
	leases int
}

// Options of Permissions. Urgent, Calm and Interval are required.
type Options struct {
	// Urgent asks the questions that a lease waits for, Calm those of re-checks.
	Urgent, Calm *access.Asker
	// Interval is the time between two re-checks of an identity.
	Interval time.Duration
	// MaxFailed is the number of failed re-checks in a row for which the last answers are used. 0 means 5.
	MaxFailed int
	// Within limits the time of a re-check. Answers that it has not renewed by then are forgotten. 0: no limit.
	Within time.Duration
	// KeepFor is the time for which an identity without leases is kept, so that a stream that
	// reconnects asks less.
	KeepFor time.Duration
	// Ledger is charged for identities and their answers. Nil: a ledger for these Permissions alone.
	Ledger *budget.Ledger
	// Rechecked is called with the time between two re-checks of one identity, and Unchecked with
	// the number of leases that are not re-checked, which is 0. Nil: no call.
	Rechecked func(time.Duration)
	Unchecked func(leases int)
}

// New returns Permissions without leases.
func New(o Options) *Permissions {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	o.MaxFailed = cmp.Or(o.MaxFailed, 5)
	if o.Ledger == nil {
		o.Ledger = budget.NewLedger(0)
	}
	if o.Rechecked == nil {
		o.Rechecked = func(time.Duration) {}
	}
	if o.Unchecked == nil {
		o.Unchecked = func(int) {}
	}
	return &Permissions{o: o, secret: secret, identities: make(map[string]*identity), checking: make(map[budget.Owner]int)}
}

// lastFor returns how long the last answers are used while there are no new ones.
func (p *Permissions) lastFor() time.Duration { return time.Duration(p.o.MaxFailed) * p.o.Interval }

// Acquire returns a lease on the rights of a user, with the places of other leases for the same
// use: a comparable value, such as the name of a view. Answers from an earlier stream are
// confirmed first. If the user's identities hold too much memory, the lease ends at once.
func (p *Permissions) Acquire(ctx context.Context, who user.Info, use any, t Terms) *Lease {
	p.refresh(ctx, Key(who))
	return p.lease(who, use, t)
}

func (p *Permissions) lease(who user.Info, use any, t Terms) *Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	i := p.identities[Key(who)]
	if i == nil {
		i = newIdentity(who, p.secret, p.o.Ledger, now)
		if err := p.makeRoomLocked(i); err != nil {
			// This identity asks nothing and is not shared.
			t.End(&delivery.ClosedError{Reason: reason.LimitExceeded, Message: err.Error()})
			return &Lease{permissions: p, identity: i, scope: i.scopeLocked(use), Terms: t, refused: true}
		}
		p.identities[i.key] = i
	}
	p.occupyLocked(i)
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &Lease{permissions: p, identity: i, scope: i.scopeLocked(use), Terms: t}
	l.scope.leases++
	i.leases[l] = struct{}{}
	p.leases++
	return l
}

func (p *Permissions) release(l *Lease) {
	if l.refused {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := l.identity
	switch idle, places := i.give(l); {
	case !idle:
	case p.o.KeepFor == 0:
		p.dropLocked(i)
	default:
		i.weight = places
		i.idle = p.idle.PushBack(i)
		p.idlePlaces += places
		p.trimLocked()
	}
	p.leases--
}

// give removes a lease, and returns whether it was the last one and the number of answers.
func (i *identity) give(l *Lease) (idle bool, places int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	delete(i.leases, l)
	l.scope.leases--
	l.scope.left, i.left = now, now
	return len(i.leases) == 0, i.answers.len()
}

// occupyLocked takes an identity from those without leases, if it is there.
func (p *Permissions) occupyLocked(i *identity) {
	if i.idle == nil {
		return
	}
	p.idle.Remove(i.idle)
	p.idlePlaces -= i.weight
	i.idle, i.weight = nil, 0
}

// trimLocked drops the identities that have been idle longest, if there are too many or they
// have too many answers. The last one stays.
func (p *Permissions) trimLocked() {
	for p.idle.Len() > maxIdle || p.idlePlaces > maxIdlePlaces && p.idle.Len() > 1 {
		p.dropLocked(p.idle.Front().Value.(*identity)) //nolint:forcetypeassert // all that the list has
	}
}

// makeRoomLocked charges for an identity. It drops the owner's identities that have been idle longest
// until there is room.
func (p *Permissions) makeRoomLocked(i *identity) error {
	for {
		err := i.charge()
		if err == nil || !p.dropIdleLocked(i.owner) {
			return err
		}
	}
}

// dropIdleLocked drops the identity of an owner that has been idle longest, and reports whether there
// was one.
func (p *Permissions) dropIdleLocked(owner budget.Owner) bool {
	for e := p.idle.Front(); e != nil; e = e.Next() {
		if i := e.Value.(*identity); i.owner == owner { //nolint:forcetypeassert // all that the list has
			p.dropLocked(i)
			return true
		}
	}
	return false
}

// refresh confirms the answers of an identity that the re-checks have not confirmed for an
// interval. Answers that cannot be confirmed are used as long as those of an open stream, and
// are then dropped.
func (p *Permissions) refresh(ctx context.Context, key string) {
	p.mu.Lock()
	i := p.identities[key]
	p.mu.Unlock()
	if i == nil || !i.neglected(p.o.Interval) {
		return
	}
	select {
	case i.asking <- struct{}{}:
		defer func() { <-i.asking }()
	case <-ctx.Done():
		return
	}
	// Another goroutine may have confirmed or dropped the identity in between.
	if !i.neglected(p.o.Interval) || !p.knows(i) {
		return
	}
	asking, cancel := context.WithTimeout(ctx, refreshWithin)
	defer cancel()
	places, _ := i.questions()
	answers, err := p.o.Urgent.Watchable(asking, i.who, places)
	i.apply(answers)
	p.mu.Lock()
	defer p.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	switch {
	case err == nil:
		i.checked, i.confirmed, i.failed = now, now, 0
	case len(i.leases) == 0 && now.Sub(i.confirmed) > p.lastFor():
		p.dropLocked(i)
	}
}

// Allowed returns whether a user may list and watch a place, and whether that is known because the user has a lease.
func (p *Permissions) Allowed(who user.Info, place access.Place) (allowed, known bool) {
	p.mu.Lock()
	i := p.identities[Key(who)]
	p.mu.Unlock()
	if i == nil {
		return false, false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.answers.allowed(place)
}

// dropLocked drops an identity, but not a newer one with its key.
func (p *Permissions) dropLocked(i *identity) {
	if p.identities[i.key] != i {
		return
	}
	delete(p.identities, i.key)
	i.account.Close()
	p.occupyLocked(i)
}

// knows reports whether the re-checks include an identity.
func (p *Permissions) knows(i *identity) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.identities[i.key] == i
}

// neglected reports whether an idle identity has not been confirmed for an interval.
func (i *identity) neglected(interval time.Duration) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.leases) == 0 && time.Since(i.confirmed) > interval
}

// forget drops identities and scopes that have been unused for KeepFor.
func (p *Permissions) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := time.Now().Add(-p.o.KeepFor)
	for _, i := range p.identities {
		i.mu.Lock()
		i.forgetLocked(since)
		forgotten := len(i.leases) == 0 && i.left.Before(since)
		i.mu.Unlock()
		if forgotten {
			p.dropLocked(i)
		}
	}
}
