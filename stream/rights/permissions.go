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

var identitiesPerUser = budget.Declare("identities_per_user", "different credentials of one user, or of the ServiceAccounts of one namespace, that stream at once, or did lately", 500)

const (
	// keepFor is how long an identity without streams is remembered, so that one
	// that comes back can continue where it was.
	keepFor = 10 * time.Minute
	// maxIdle bounds the identities that are, and maxIdlePlaces what is known of
	// them all: some 10 MiB.
	maxIdle       = 1000
	maxIdlePlaces = 200_000
	// maxFailed is for how many intervals the last answers hold.
	maxFailed = 5
	// refreshWithin bounds how long one that comes back waits for its answers to be
	// asked again.
	refreshWithin = 10 * time.Second

	// urgentPerSecond is for questions that a subscriber waits for; they come in
	// bursts, when somebody who may see little opens a view of many namespaces.
	urgentPerSecond = 1000
	// calmPerSecond is for questions that are only asked again.
	calmPerSecond = 400
)

// Permissions knows what the identities that have streams may see, and asks
// again after every interval. Lock order: mu, then an identity's.
type Permissions struct {
	interval     time.Duration
	urgent, calm *access.Asker
	rechecked    func(time.Duration)
	unchecked    func(leases int)
	secret       []byte

	mu         sync.Mutex
	identities map[string]*identity
	users      users
	// owners counts the identities of each owner.
	owners map[budget.Owner]int
	// idle are the identities without leases, those that have been so for longest
	// first; idlePlaces is what is known of them.
	idle       list.List
	idlePlaces int
	// busy counts the identities that are being asked about again, and checking those
	// of each owner.
	busy     int
	checking map[budget.Owner]int
	// leases counts what was acquired and not released. Every one belongs to an
	// identity in identities: the re-checks look at no others.
	leases int
}

// Options of Permissions. Review and Interval are required.
type Options struct {
	// Review answers one question, uncached.
	Review access.Review
	// Interval is how often everything is asked again.
	Interval time.Duration
	// Key is what rights are digested with, which only those know who may continue
	// each other's revisions. Nil: a random one, of this process alone.
	Key []byte
	// Reviewed is told of each question that was answered or not, Rechecked of the
	// time between two re-checks of one identity, and Unchecked now and then how many
	// leases nobody looks after, which is 0. Nil: nobody is told.
	Reviewed  func(allowed bool, err error)
	Rechecked func(time.Duration)
	Unchecked func(leases int)
}

// New returns Permissions of nobody.
func New(o Options) *Permissions {
	secret := o.Key
	if secret == nil {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // never fails
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
		rechecked: o.Rechecked, unchecked: o.Unchecked, secret: secret,
		identities: make(map[string]*identity), users: make(users), owners: make(map[budget.Owner]int), checking: make(map[budget.Owner]int),
	}
}

// Acquire returns what somebody may see of a view. Answers that are left from an
// earlier stream are asked again before they count. What the lease is for is ended
// if the user has streams with too many credentials already.
func (p *Permissions) Acquire(ctx context.Context, who user.Info, view names.GraphName, t Terms) *Lease {
	p.refresh(ctx, Key(who))
	l := p.lease(who, view, t)
	l.inherit(ctx)
	return l
}

func (p *Permissions) lease(who user.Info, view names.GraphName, t Terms) *Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	i := p.identities[Key(who)]
	if i == nil {
		i = newIdentity(who, p.secret, now)
		if err := p.makeRoomLocked(i.owner); err != nil {
			// Nothing is asked for this one, and nobody else finds it.
			t.End(&delivery.ClosedError{Reason: reason.TooManyRequests, Message: err.Error() + "; end some, or try again later"})
			return &Lease{permissions: p, identity: i, view: view, scope: i.scopeLocked(view), Terms: t, refused: true}
		}
		p.identities[i.key] = i
		p.owners[i.owner]++
		p.users.add(i)
	}
	var inherited []access.Place
	if !i.knows(view) {
		inherited = p.users.inheritance(i, view)
	}
	p.users.opened(i, view)
	p.occupyLocked(i)
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &Lease{permissions: p, identity: i, view: view, scope: i.scopeLocked(view), Terms: t}
	if len(inherited) > 0 {
		l.scope.inherited = inherited
	}
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
	p.users.opened(i, l.view)
	if idle, places := i.give(l); idle {
		i.weight = places
		i.idle = p.idle.PushBack(i)
		p.idlePlaces += places
		p.trimLocked()
	}
	p.leases--
}

// give takes a lease back, and tells whether it was the last one and what is known.
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

// trimLocked forgets those that have been without streams for longest, where there
// are too many or too much is known of them. The last one stays.
func (p *Permissions) trimLocked() {
	for p.idle.Len() > maxIdle || p.idlePlaces > maxIdlePlaces && p.idle.Len() > 1 {
		p.dropLocked(p.idle.Front().Value.(*identity)) //nolint:forcetypeassert // all that the list has
	}
}

// makeRoomLocked makes room for one more identity of an owner, by forgetting the one
// of the owner's that has been without streams for longest.
func (p *Permissions) makeRoomLocked(owner budget.Owner) error {
	if int64(p.owners[owner]) < identitiesPerUser.Limit() {
		return nil
	}
	for e := p.idle.Front(); e != nil; e = e.Next() {
		if i := e.Value.(*identity); i.owner == owner { //nolint:forcetypeassert // as above
			p.dropLocked(i)
			return nil
		}
	}
	return identitiesPerUser.Exceed()
}

// refresh asks again what is known of an identity that nobody looked after for
// longer than the interval. Answers that cannot be confirmed hold as long as
// those of an open stream would; then they are forgotten.
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
	// Another one may have done it meanwhile, or have found that nobody answers
	// and forgotten the identity.
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

// dropLocked forgets an identity, and never the one that has come in its place.
func (p *Permissions) dropLocked(i *identity) {
	if p.identities[i.key] != i {
		return
	}
	delete(p.identities, i.key)
	if p.owners[i.owner]--; p.owners[i.owner] == 0 {
		delete(p.owners, i.owner)
	}
	p.users.remove(i)
	p.occupyLocked(i)
}

// knows tells whether the re-checks look after an identity.
func (p *Permissions) knows(i *identity) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.identities[i.key] == i
}

// neglected tells whether the re-checks have not looked after an identity.
func (i *identity) neglected(interval time.Duration) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.leases) == 0 && time.Since(i.confirmed) > interval
}

// forget drops identities and scopes that nobody has come back to.
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
