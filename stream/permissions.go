package stream

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview"
)

const (
	// keepFor is how long an identity without streams is remembered, so that one
	// that comes back can continue where it was.
	keepFor = 10 * time.Minute
	// maxIdle bounds the identities that are.
	maxIdle = 1000
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

// permissions knows what the identities that have streams may see, and asks
// again after every interval. Lock order: mu, then an identity's.
type permissions struct {
	interval     time.Duration
	urgent, calm *reviewer
	// authenticator judges credentials that are looked at again.
	authenticator authenticator.Request
	metrics       *metrics
	secret        []byte

	mu         sync.Mutex
	identities map[string]*identity
	kin        kin
	// leases counts what was acquired and not released. Every one belongs to an
	// identity in identities: the re-checks look at no others.
	leases int
}

func newPermissions(r review, again authenticator.Request, interval time.Duration, m *metrics) *permissions {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return &permissions{
		interval: interval, urgent: newReviewer(r, urgentPerSecond, m), calm: newReviewer(r, calmPerSecond, m),
		authenticator: again, metrics: m, secret: secret, identities: make(map[string]*identity), kin: make(kin),
	}
}

// acquire returns what somebody may see of a view. Answers that are left from an
// earlier stream are asked again before they count.
func (p *permissions) acquire(ctx context.Context, who user.Info, view graphview.Name, t tenancy) *lease {
	p.refresh(ctx, identityKey(who))
	l := p.lease(who, view, t)
	l.inherit(ctx)
	return l
}

func (p *permissions) lease(who user.Info, view graphview.Name, t tenancy) *lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	i := p.identities[identityKey(who)]
	if i == nil {
		p.evictLocked()
		i = newIdentity(who, p.secret, now)
		p.identities[i.key] = i
		p.kin.add(i)
	}
	var inherited []graphview.Place
	if !i.knows(view) {
		inherited = p.kin.inheritance(i, view)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &lease{permissions: p, identity: i, view: view, scope: i.scopeLocked(view), tenancy: t}
	if inherited != nil {
		l.scope.inherited = inherited
	}
	l.scope.leases++
	i.leases[l] = struct{}{}
	p.leases++
	return l
}

func (p *permissions) release(l *lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, now := l.identity, time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.leases, l)
	p.leases--
	l.scope.leases--
	l.scope.left, i.left = now, now
}

// refresh asks again what is known of an identity that nobody looked after for
// longer than the interval. Answers that cannot be confirmed hold as long as
// those of an open stream would; then they are forgotten.
func (p *permissions) refresh(ctx context.Context, key string) {
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
	answers, err := p.urgent.places(asking, i.who, places)
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
func (p *permissions) dropLocked(i *identity) {
	if p.identities[i.key] == i {
		delete(p.identities, i.key)
	}
	p.kin.remove(i)
}

// knows tells whether the re-checks look after an identity.
func (p *permissions) knows(i *identity) bool {
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

// evictLocked makes room for one more by forgetting the one that has been
// without streams for longest.
func (p *permissions) evictLocked() {
	idle := 0
	var oldest *identity
	var left time.Time
	for _, i := range p.identities {
		i.mu.Lock()
		if len(i.leases) == 0 {
			idle++
			if oldest == nil || i.left.Before(left) {
				oldest, left = i, i.left
			}
		}
		i.mu.Unlock()
	}
	if idle >= maxIdle {
		p.dropLocked(oldest)
	}
}

// forget drops identities and scopes that nobody has come back to.
func (p *permissions) forget() {
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
