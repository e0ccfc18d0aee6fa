package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
)

// viewer follows one view, and reconnects with the last revision whenever its
// subscription ends.
type viewer struct {
	*subscriber.Subscriber

	view string
	find func(string) (*graphview.View, bool)
	stop func() // ends it, and returns when it has ended

	mu   sync.Mutex
	away time.Duration
}

// subscribe follows a view until ctx ends or stop is called.
func subscribe(ctx context.Context, view string, find func(string) (*graphview.View, bool)) *viewer {
	v := &viewer{Subscriber: subscriber.New(), view: view, find: find}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.Persist(ctx, v.open)
	}()
	v.stop = func() {
		cancel()
		<-done
	}
	return v
}

// open subscribes to the view, which may be of another engine each time.
func (v *viewer) open(ctx context.Context, since string) (subscriber.Stream, error) {
	v.mu.Lock()
	away := v.away
	v.away = 0
	v.mu.Unlock()
	pause(ctx, away)
	view, ok := v.find(v.view)
	if !ok {
		return nil, fmt.Errorf("there is no view %s", v.view)
	}
	subscription := view.Subscribe(delivery.SubscribeOptions{Since: since})
	next := func() ([]*delivery.Frame, error) {
		frames, err := subscription.Next(ctx)
		if err != nil {
			v.ended(err)
			subscription.Close()
		}
		return frames, err
	}
	return subscriber.Batches(next, func(f *delivery.Frame) []byte { return f.JSON }), nil
}

// ended records an unexpected end.
func (v *viewer) ended(err error) {
	var closed *delivery.ClosedError
	if errors.Is(err, context.Canceled) || errors.As(err, &closed) && (closed.Reason == reason.Stopping || closed.Reason == reason.Deleted) {
		return
	}
	v.Fail(fmt.Errorf("subscription: %w", err))
}

// lose breaks the connection; the viewer comes back after a while.
func (v *viewer) lose(away time.Duration) {
	v.mu.Lock()
	v.away = away
	v.mu.Unlock()
	v.Drop()
}

// sees reports whether a vertex is in the viewer's graph.
func (v *viewer) sees(key oracle.VertexKey) (ok bool) {
	v.Look(func(c *oracle.Client) { _, ok = c.Graph().Vertices[key] })
	return ok
}
