package stream

import (
	"context"
	"sync"
)

// once lets those who ask the same thing at the same time wait for one answer. The
// zero value is ready.
type once[K comparable, V any] struct {
	mu    sync.Mutex
	asked map[K]*asked[V]
}

// asked is a question that is under way. The answer is there when done is closed.
type asked[V any] struct {
	done   chan struct{}
	answer V
	err    error
	// abandoned: whoever asked has given up, so that there is no answer.
	abandoned bool
}

// do asks, or waits for somebody else's answer. When that one gives up, another
// one asks.
func (o *once[K, V]) do(ctx context.Context, key K, ask func(context.Context) (V, error)) (V, error) {
	for {
		a, mine := o.join(key)
		if mine {
			defer o.leave(key, a)
			a.answer, a.err = ask(ctx)
			a.abandoned = ctx.Err() != nil
			return a.answer, a.err
		}
		select {
		case <-a.done:
			if !a.abandoned {
				return a.answer, a.err
			}
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

func (o *once[K, V]) join(key K) (a *asked[V], mine bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a = o.asked[key]
	if a != nil {
		return a, false
	}
	if o.asked == nil {
		o.asked = make(map[K]*asked[V])
	}
	// Until ask has returned, which it does not if it panics, there is no answer.
	a = &asked[V]{done: make(chan struct{}), abandoned: true}
	o.asked[key] = a
	return a, true
}

func (o *once[K, V]) leave(key K, a *asked[V]) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.asked, key)
	close(a.done)
}
