package placement

import (
	"context"
	"errors"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream"
	"graphview.dev/stream/relay/edge"
)

// subscription reads a view for one subscriber, here or through a relay. One goroutine at a time may
// use it.
type subscription struct {
	view *view
	o    delivery.SubscribeOptions
	// from is nil until the first Wait, and after a replica was lost. end releases its holder.
	from   stream.Subscription
	relay  *edge.Relay // nil: it reads here
	uid    string      // of the view that it reads here
	end    func()
	begun  bool // something was sent
	closed bool
	// received is what a relay has sent.
	received received
}

// Poll implements stream.Subscription.
func (s *subscription) Poll() ([]*delivery.Frame, error) {
	if s.from == nil {
		return nil, nil
	}
	frames, err := s.from.Poll()
	if s.lost(err) {
		return nil, nil
	}
	return s.passed(frames, err)
}

// passed records the frames that a relay has brought.
func (s *subscription) passed(frames []*delivery.Frame, err error) ([]*delivery.Frame, error) {
	s.begun = s.begun || len(frames) > 0
	if err != nil || s.relay == nil || len(frames) == 0 {
		return frames, err
	}
	return s.received.note(frames)
}

// lost reports whether the subscriber has to read elsewhere: its replica does not hold the
// view any more, or the connection is broken. A broken connection is opened again at the
// same replica, where the subscriber continues; elsewhere it is reset.
func (s *subscription) lost(why error) bool {
	t := s.view.table
	since := delivery.NoRevision
	switch {
	case why == nil:
		return false
	case s.relay == nil:
		if closed, ok := errors.AsType[*delivery.ClosedError](why); !ok || closed.Reason != reason.Deleted || !t.declares(s.view.entry, s.uid) {
			return false
		}
	case !errors.Is(why, edge.ErrBroken):
		return false
	case t.ended(s.relay, why) && s.received.rev != "":
		since = s.received.resume()
	}
	if since == delivery.NoRevision {
		t.metrics.reopened.Inc()
	}
	s.leave()
	if s.begun {
		s.o.Since = since
	}
	return true
}

// Wait implements stream.Subscription.
func (s *subscription) Wait(ctx context.Context) error {
	if s.from == nil {
		return s.begin(ctx)
	}
	return s.from.Wait(ctx)
}

// begin chooses a replica and subscribes there.
func (s *subscription) begin(ctx context.Context) error {
	t, e := s.view.table, s.view.entry
	relay, err := t.choose(ctx, e, s.o.Since)
	if err != nil {
		return err
	}
	if relay != nil {
		s.from, s.relay, s.end = relay.Subscribe(s.o), relay, t.reads(e, relay)
		return nil
	}
	own, release, err := t.acquire(ctx, e.name)
	if err != nil {
		return err
	}
	reads := t.reads(e, nil)
	s.uid = own.UID()
	s.from, s.end = own.Subscribe(s.o), func() {
		reads()
		release()
	}
	return nil
}

// Next implements stream.Subscription.
func (s *subscription) Next(ctx context.Context) ([]*delivery.Frame, error) {
	for {
		if s.from != nil {
			frames, err := s.from.Next(ctx)
			if !s.lost(err) {
				return s.passed(frames, err)
			}
		}
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
}

func (s *subscription) leave() {
	if s.from != nil {
		s.from.Close()
		s.end()
		s.from, s.relay, s.end = nil, nil, nil
	}
}

// Close implements stream.Subscription.
func (s *subscription) Close() {
	if !s.closed {
		s.closed = true
		s.leave()
		s.view.table.mu.Lock()
		s.view.entry.subscribers--
		s.view.table.mu.Unlock()
	}
}

// reads counts a subscriber that reads a view through a relay, or here, until ended is called.
func (t *Table) reads(e *entry, relay *edge.Relay) (ended func()) {
	count := func(n int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if relay == nil {
			if e.local == 0 {
				e.localSince = time.Now()
			}
			e.local += n
			return
		}
		if e.reading == nil {
			e.reading = make(map[*edge.Relay]int)
		}
		if e.reading[relay] += n; e.reading[relay] == 0 {
			delete(e.reading, relay)
		}
	}
	count(1)
	return func() { count(-1) }
}

// declares reports whether a view that the engine has ended is still declared, and so held by another
// replica.
func (t *Table) declares(e *entry, uid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[e.name] == e && e.uid == uid && e.spec != nil
}
