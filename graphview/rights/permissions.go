package rights

import (
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
	"graphview.dev/stream/names"
)

const (
	// keepFor is the time for which an identity without streams is kept, so that a stream that
	// reconnects asks less.
	keepFor = 10 * time.Minute
	// maxIdle bounds the identities without streams, and maxIdlePlaces the answers about
	// all of them: some 10 MiB.
	maxIdle       = 1000
	maxIdlePlaces = 200_000
	// maxFailed is the number of failed re-checks for which the last answers are used.
	maxFailed = 5
	// refreshWithin bounds how long a resuming stream waits until its answers are confirmed.
	refreshWithin = 10 * time.Second

	// urgentPerSecond bounds questions that a subscriber waits for. They come in bursts, when a
	// user with few rights opens a view of many namespaces.
	urgentPerSecond = 1000
	// calmPerSecond bounds the questions of re-checks.
	calmPerSecond = 400
)

// Permissions knows the rights of the identities that have streams, and asks
// again after every interval. Lock order: mu, then that of an identity.
type Permissions struct {
	interval     time.Duration
	urgent, calm *access.Asker
	rechecked    func(time.Duration)
	unchecked    func(leases int)
	secret       []byte
	ledger       *budget.Ledger

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

// Options of Permissions. Review and Interval are required.
type Options struct {
	// Review answers one question, uncached.
	Review access.Review
	// Interval is the time between two re-checks of an identity.
	Interval time.Duration
	// Ledger is charged for identities and their answers. Nil: a ledger for these Permissions alone.
	Ledger *budget.Ledger
	// Reviewed is called for each question, Rechecked with the time between two re-checks of
	// one identity, and Unchecked with the number of leases that are not re-checked, which is
	// 0. Nil: no call.
	Reviewed  func(allowed bool, err error)
	Rechecked func(time.Duration)
	Unchecked func(leases int)
}

// New returns Permissions without leases.
func New(o Options) *Permissions {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	if o.Ledger == nil {
		o.Ledger = budget.NewLedger(0)
	}
	if o.Rechecked == nil {
		o.Rechecked = func(time.Duration) {}
	}
	if o.Unchecked == nil {
		o.Unchecked = func(int) {}
	}
	return &Permissions{
		interval:  o.Interval,
		urgent:    access.New(access.Options{Review: o.Review, PerSecond: urgentPerSecond, Reviewed: o.Reviewed}),
		calm:      access.New(access.Options{Review: o.Review, PerSecond: calmPerSecond, Reviewed: o.Reviewed}),
		rechecked: o.Rechecked, unchecked: o.Unchecked, secret: secret, ledger: o.Ledger,
		identities: make(map[string]*identity), checking: make(map[budget.Owner]int),
	}
}

// Acquire returns a lease on the rights of a user to a view. Answers from an earlier stream are
// confirmed first. If the user's identities hold too much memory, the lease ends at once.
func (p *Permissions) Acquire(ctx context.Context, who user.Info, view names.GraphName, t Terms) *Lease {
	p.refresh(ctx, Key(who))
	return p.lease(who, view, t)
}

func (p *Permissions) lease(who user.Info, view names.GraphName, t Terms) *Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	i := p.identities[Key(who)]
	if i == nil {
		i = newIdentity(who, p.secret, p.ledger, now)
		if err := p.makeRoomLocked(i); err != nil {
			// This identity asks nothing and is not shared.
			t.End(&delivery.ClosedError{Reason: reason.LimitExceeded, Message: err.Error()})
			return &Lease{permissions: p, identity: i, scope: i.scopeLocked(view), Terms: t, refused: true}
		}
		p.identities[i.key] = i
	}
	p.occupyLocked(i)
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &Lease{permissions: p, identity: i, scope: i.scopeLocked(view), Terms: t}
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
	if idle, places := i.give(l); idle {
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
	if i == nil || !i.neglected(p.interval) {
		return
	}
	select {
	case i.asking <- struct{}{}:
		defer func() { <-i.asking }()
	case <-ctx.Done():
		return
	}
	// Another goroutine may have confirmed or dropped the identity in between.
	if !i.neglected(p.interval) || !p.knows(i) {
		return
	}
	asking, cancel := context.WithTimeout(ctx, refreshWithin)
	defer cancel()
	places, _ := i.questions()
	answers, err := p.urgent.Watchable(asking, i.who, places)
	i.apply(answers)
	p.mu.Lock()
	defer p.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	switch {
	case err == nil:
		i.checked, i.confirmed, i.failed = now, now, 0
	case len(i.leases) == 0 && now.Sub(i.confirmed) > maxFailed*p.interval:
		p.dropLocked(i)
	}
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

// forget drops identities and scopes that have been unused for keepFor.
func (p *Permissions) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := time.Now().Add(-keepFor)
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
