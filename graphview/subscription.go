package graphview

import (
	"context"
	"errors"
	"sync"
)

// SubscribeOptions say where a subscription begins and what it may see.
type SubscribeOptions struct {
	// Since is the revision of the last complete graph that the subscriber has,
	// "" for none. One that cannot be honoured leads to a reset.
	Since string
	// Rights restrict what is sent; nil means everything.
	Rights Rights
}

// Subscription is one subscriber's position in a view. It holds no queue: what
// it has not fetched is made from the graph when it does. Next is for one
// goroutine at a time.
type Subscription struct {
	view    *View
	rights  Rights
	state   state
	ends    *interruption
	closing sync.Once
}

// Subscribe begins a subscription. It is to be closed.
func (v *View) Subscribe(o SubscribeOptions) *Subscription {
	v.subscribers.Add(1)
	v.engine.o.Notify(v.name)
	return &Subscription{view: v, rights: o.Rights, state: v.encoder.begin(o.Since, o.Rights), ends: v.interruption()}
}

// Close ends the subscription. It is idempotent.
func (s *Subscription) Close() {
	s.closing.Do(func() {
		s.view.subscribers.Add(-1)
		s.view.engine.o.Notify(s.view.name)
	})
}

// Next waits until there is something to send and returns it: one or more
// frames, to be written in order. The last one of a whole graph, and of every
// change after it, has a Rev. The error is a *ClosedError when the subscription
// is over, and ctx's when the caller gave up, who may call again.
func (s *Subscription) Next(ctx context.Context) ([]*Frame, error) {
	v := s.view
	for {
		select {
		case <-s.ends.over:
			return nil, s.ends.why
		default:
		}
		if err := v.Err(); err != nil {
			return nil, closedBy(err)
		}
		// Channels first, so that what happens from here on wakes us.
		news := v.newsChannel()
		var changed <-chan struct{}
		if lens := v.encoder.lensNow(); lens != nil {
			frames, next := v.encoder.next(lens, s.state, s.rights)
			moved := next != s.state
			s.state = next
			if len(frames) > 0 {
				return frames, nil
			}
			if moved {
				continue
			}
			changed = lens.Changed(s.state.pos.Known)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.ends.over:
		case <-news:
		case <-changed:
		}
	}
}

// closedBy turns the reason why a view is not served into how a subscription
// of it ends.
func closedBy(err error) *ClosedError {
	var c *ClosedError
	if errors.As(err, &c) {
		return c
	}
	return &ClosedError{Code: CodeInvalid, Reason: err.Error()}
}
