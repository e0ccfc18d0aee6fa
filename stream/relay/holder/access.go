package holder

import (
	"context"
	"slices"
	"sync"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// answers are what an edge has told of one subscriber. They are immutable.
type answers struct {
	epoch  uint64
	digest string
	known  map[access.Place]bool
	// all has the places once for all subscribers with this digest, where somebody
	// keeps it.
	all []access.Place
}

func answersOf(told wire.Answers) *answers {
	a := &answers{epoch: told.Epoch, digest: told.Digest, known: make(map[access.Place]bool, len(told.Places))}
	for _, p := range told.Places {
		a.known[p.Of()] = p.Allowed
		a.all = append(a.all, p.Of())
	}
	return a
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
func (a *answers) Places() []access.Place { return a.all }

// told is what one subscriber may see, as the edge tells it.
type told struct {
	// ask has the edge find answers.
	ask func([]access.Place) error

	mu      sync.Mutex
	now     *answers
	changed chan struct{} // closed when an answer is another one
	news    chan struct{} // closed when something was told
	// seen is what Changed returned last, and shown what Rights did.
	seen  chan struct{}
	shown *answers
}

func newTold(first wire.Answers, ask func([]access.Place) error) *told {
	return &told{ask: ask, now: answersOf(first), changed: make(chan struct{}), news: make(chan struct{})}
}

// tell takes what the edge says now.
func (t *told) tell(a wire.Answers) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.Epoch < t.now.epoch {
		return
	}
	if a.Epoch > t.now.epoch {
		close(t.changed)
		t.changed = make(chan struct{})
	}
	t.now = answersOf(a)
	close(t.news)
	t.news = make(chan struct{})
}

// Rights implements delivery.Access. As with an edge's own rights, who has not seen
// yet that an answer changed is not given it.
func (t *told) Rights() delivery.Rights {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown == nil || t.seen == nil || t.seen == t.changed {
		t.shown = t.now
	}
	return t.shown
}

// Changed implements delivery.Access.
func (t *told) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = t.changed
	return t.seen
}

// epoch is that of the answers which Rights returned last.
func (t *told) epoch() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown == nil {
		return t.now.epoch
	}
	return t.shown.epoch
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
