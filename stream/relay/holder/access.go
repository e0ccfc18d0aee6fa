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

// told is what the subscribers of a channel may see, as the edge tells it. No answer
// changes.
type told struct {
	// ask has the edge find answers.
	ask  func([]access.Place) error
	pool *pool

	mu   sync.Mutex
	now  *answers
	news chan struct{} // closed when something was told
}

// newTold begins with the answers of, nil for none.
func newTold(p *pool, of *answers, first wire.Answers, ask func([]access.Place) error) *told {
	return &told{ask: ask, pool: p, now: p.with(of, first), news: make(chan struct{})}
}

// tell takes more answers.
func (t *told) tell(a wire.Answers) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = t.pool.with(t.now, a)
	close(t.news)
	t.news = make(chan struct{})
}

func (t *told) answers() (now *answers, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now, t.news
}

// Rights implements delivery.Access.
func (t *told) Rights() delivery.Rights {
	now, _ := t.answers()
	return now
}

// Changed implements delivery.Access: never.
func (t *told) Changed() <-chan struct{} { return nil }

// Resolve implements delivery.Access: it asks the edge, and waits until everything is
// known. An edge that cannot find out ends the channel.
func (t *told) Resolve(ctx context.Context, unknown []access.Place) error {
	asked := false
	for {
		now, news := t.answers()
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
