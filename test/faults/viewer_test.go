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
)

// subscriber follows one view with the strict reference client, and reconnects
// with the last revision whenever its subscription ends.
type subscriber struct {
	view string
	find func(string) (*graphview.View, bool)
	stop func() // ends it, and returns when it has ended

	mu     sync.Mutex
	client oracle.Client
	err    error // the first thing that the client found wrong
	drop   context.CancelFunc
	away   time.Duration
	resets int
}

// subscribe follows a view until ctx ends or stop is called.
func subscribe(ctx context.Context, view string, find func(string) (*graphview.View, bool)) *subscriber {
	s := &subscriber{view: view, find: find, client: oracle.Client{Strict: true}}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx)
	}()
	s.stop = func() {
		cancel()
		<-done
	}
	return s
}

func (s *subscriber) run(ctx context.Context) {
	for ctx.Err() == nil {
		if v, ok := s.find(s.view); ok {
			s.connect(ctx, v)
		}
		s.mu.Lock()
		away := max(s.away, 10*time.Millisecond)
		s.away = 0
		s.mu.Unlock()
		pause(ctx, away)
	}
}

// connect follows one subscription to its end.
func (s *subscriber) connect(ctx context.Context, v *graphview.View) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.drop = cancel
	since := s.client.Rev()
	if since == "" {
		s.client.Forget()
	} else {
		s.client.Resumed()
	}
	s.mu.Unlock()
	subscription := v.Subscribe(delivery.SubscribeOptions{Since: since})
	defer subscription.Close()
	for {
		frames, err := subscription.Next(ctx)
		s.take(frames)
		if err != nil {
			s.ended(err)
			return
		}
	}
}

func (s *subscriber) take(frames []*delivery.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, frame := range frames {
		if frame.Reset {
			s.resets++
		}
		if err := s.client.Apply(frame.JSON); err != nil && s.err == nil {
			s.err = fmt.Errorf("apply %.300s: %w", frame.JSON, err)
		}
	}
}

// ended notes an end that nobody wanted.
func (s *subscriber) ended(err error) {
	var closed *delivery.ClosedError
	if errors.Is(err, context.Canceled) || errors.As(err, &closed) && (closed.Reason == reason.Stopping || closed.Reason == reason.Deleted) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("subscription: %w", err)
	}
}

// lose breaks the connection; the subscriber comes back after a while.
func (s *subscriber) lose(away time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
	if s.drop != nil {
		s.drop()
	}
}

// differs says how the subscriber's graph differs from the oracle's, now.
func (s *subscriber) differs(want oracle.Graph) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err.Error()
	}
	if !s.client.Synced() {
		return fmt.Sprintf("not synced; warnings: %v", s.client.Warnings())
	}
	return oracle.Compare(want, s.client.Graph())
}

// broken is what the strict client found wrong.
func (s *subscriber) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *subscriber) warnings() []oracle.Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Warnings()
}

// sees tells whether a vertex is in the subscriber's graph.
func (s *subscriber) sees(key oracle.VertexKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.client.Graph().Vertices[key]
	return ok
}
