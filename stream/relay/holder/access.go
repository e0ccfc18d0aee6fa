package holder

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// answers are what edges have told of all subscribers whose rights have one digest.
// They are immutable.
type answers struct {
	digest string
	known  map[access.Place]bool
}

// pool has the answers of all channels, those of one digest once. It keeps none that
// nobody uses.
type pool struct {
	mu sync.Mutex
	by map[string]weak.Pointer[answers]
}

// with are the answers before, nil for none, and those in told.
func (p *pool) with(before *answers, told wire.Answers) *answers {
	p.mu.Lock()
	a := p.by[told.Digest].Value()
	p.mu.Unlock()
	if a != nil {
		return a
	}
	a = &answers{digest: told.Digest, known: make(map[access.Place]bool, len(told.Places))}
	if before != nil {
		maps.Copy(a.known, before.known)
	}
	for _, place := range told.Places {
		a.known[place.Of()] = place.Allowed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if same := p.by[told.Digest].Value(); same != nil {
		return same
	}
	p.by[told.Digest] = weak.Make(a)
	runtime.AddCleanup(a, p.forget, told.Digest)
	return a
}

func (p *pool) forget(digest string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[digest].Value() == nil {
		delete(p.by, digest)
	}
}

// Allowed implements delivery.Rights, as the edge's rights do: the answer about all
// namespaces counts first.
func (a *answers) Allowed(p access.Place) (allowed, known bool) {
	wide := access.Place{Group: p.Group, Resource: p.Resource}
	allowed, known = a.known[wide]
	if known && !allowed && p.Namespace != "" {
		allowed, known = a.known[p]
	}
	return allowed, known
}

// Digest implements delivery.Rights.
func (a *answers) Digest() string { return a.digest }

// Places implements delivery.Recalled.
func (a *answers) Places() []access.Place { return slices.Collect(maps.Keys(a.known)) }

// told is what one subscriber may see, as the edge tells it.
type told struct {
	// ask has the edge find answers.
	ask  func([]access.Place) error
	pool *pool

	mu      sync.Mutex
	now     standing
	changed chan struct{} // closed when an answer is another one
	news    chan struct{} // closed when something was told
	// seen is what Changed returned last, and shown what Rights did.
	seen  chan struct{}
	shown standing
}

// standing are the answers of an epoch; nil: none yet.
type standing struct {
	*answers

	epoch uint64
}

func newTold(p *pool, first wire.Answers, ask func([]access.Place) error) *told {
	return &told{ask: ask, pool: p, now: standing{p.with(nil, first), first.Epoch}, changed: make(chan struct{}), news: make(chan struct{})}
}

// tell takes what the edge says now.
func (t *told) tell(a wire.Answers) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.Epoch < t.now.epoch {
		return
	}
	before := t.now.answers
	if a.Epoch > t.now.epoch {
		before = nil
		close(t.changed)
		t.changed = make(chan struct{})
	}
	t.now = standing{t.pool.with(before, a), a.Epoch}
	close(t.news)
	t.news = make(chan struct{})
}

// Rights implements delivery.Access. As with an edge's own rights, who has not seen
// yet that an answer changed is not given it.
func (t *told) Rights() delivery.Rights {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown.answers == nil || t.seen == nil || t.seen == t.changed {
		t.shown = t.now
	}
	return t.shown.answers
}

// Changed implements delivery.Access.
func (t *told) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = t.changed
	return t.seen
}

// last is what Rights returned last.
func (t *told) last() standing {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown.answers == nil {
		return t.now
	}
	return t.shown
}

// Resolve implements delivery.Access: it asks the edge, and waits until everything is
// known. An edge that cannot find out ends the channel.
func (t *told) Resolve(ctx context.Context, unknown []access.Place) error {
	asked := false
	for {
		t.mu.Lock()
		now, news := t.now, t.news
		t.mu.Unlock()
		missing := slices.DeleteFunc(slices.Clone(unknown), func(p access.Place) bool {
			_, known := now.Allowed(p)
			return known
		})
		if len(missing) == 0 {
			return nil
		}
		if !asked {
			if err := t.ask(missing); err != nil {
				return err
			}
			asked = true
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
