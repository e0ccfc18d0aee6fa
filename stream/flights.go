package stream

import (
	"context"
	"sync"
)

// flights lets callers that ask the same question at the same time share one answer. If the
// caller that asks gives up, another one asks, which singleflight does not do. The zero
// value is ready.
type flights[K comparable, V any] struct {
	mu      sync.Mutex
	flights map[K]*flight[V]
}

// flight is a question in progress. The answer may be read when done is closed.
type flight[V any] struct {
	done   chan struct{}
	answer V
	err    error
	// abandoned means that the caller gave up, or panicked, and there is no answer.
	abandoned bool
}

// Do calls ask, or waits for the answer of another caller.
func (f *flights[K, V]) Do(ctx context.Context, key K, ask func(context.Context) (V, error)) (V, error) {
	for {
		one, mine := f.join(key)
		if mine {
			defer f.leave(key, one)
			one.answer, one.err = ask(ctx)
			one.abandoned = ctx.Err() != nil
			return one.answer, one.err
		}
		select {
		case <-one.done:
			if !one.abandoned {
				return one.answer, one.err
			}
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

func (f *flights[K, V]) join(key K) (one *flight[V], mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one = f.flights[key]
	if one != nil {
		return one, false
	}
	if f.flights == nil {
		f.flights = make(map[K]*flight[V])
	}
	one = &flight[V]{done: make(chan struct{}), abandoned: true}
	f.flights[key] = one
	return one, true
}

func (f *flights[K, V]) leave(key K, one *flight[V]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.flights, key)
	close(one.done)
}
