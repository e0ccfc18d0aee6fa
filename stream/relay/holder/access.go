package holder

import (
	"context"
	"maps"
	"slices"
	"sync"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/weakmap"
	"graphview.dev/stream/relay/wire"
)

// answers are the rights of all subscribers with one digest. They are immutable.
type answers struct {
	digest string
	known  map[access.Place]bool
}

// answerCache has the answers of all channels by their digest, while a channel uses them.
type answerCache = weakmap.Map[string, answers]

// answersOf returns the answers that an edge has sent; nil if it refers to answers that no
// channel has.
func answersOf(cache *answerCache, sent wire.Answers) *answers {
	if a := cache.Get(sent.Digest); a != nil {
		return a
	}
	a := &answers{digest: sent.Digest, known: make(map[access.Place]bool, len(sent.Places))}
	if sent.Of != "" {
		base := cache.Get(sent.Of)
		if base == nil {
			return nil
		}
		maps.Copy(a.known, base.known)
	}
	for _, place := range sent.Places {
		a.known[place.Of()] = place.Allowed
	}
	return cache.Add(sent.Digest, a)
}

// Allowed implements delivery.Rights as the edge's rights do: the answer about all
// namespaces comes first.
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

// Places implements delivery.EnumerableRights.
func (a *answers) Places() []access.Place { return slices.Collect(maps.Keys(a.known)) }

// remoteAccess is the access of a channel's subscriber, as the edge sends it. No answer
// changes.
type remoteAccess struct {
	// ask has the edge find answers.
	ask func([]access.Place)

	mu   sync.Mutex
	now  *answers
	news chan struct{} // closed when there are more answers
}

func (t *remoteAccess) tell(more *answers) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = more
	close(t.news)
	t.news = make(chan struct{})
}

func (t *remoteAccess) answers() (now *answers, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now, t.news
}

// Rights implements delivery.Access.
func (t *remoteAccess) Rights() delivery.Rights {
	now, _ := t.answers()
	return now
}

// Changed implements delivery.Access: never.
func (t *remoteAccess) Changed() <-chan struct{} { return nil }

// Resolve implements delivery.Access: it asks the edge, and waits until all places are
// known. An edge that cannot find the answers closes the channel.
func (t *remoteAccess) Resolve(ctx context.Context, unknown []access.Place) error {
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
			t.ask(missing)
			asked = true
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
