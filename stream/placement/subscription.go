package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream"
	"graphview.dev/stream/relay/edge"
)

// steady is the age from which a relay that breaks is opened again at the same replica. A
// relay that breaks earlier makes its replica suspect, so that no replica is dialled in a
// tight loop.
const steady = time.Second

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
		if relay == nil && e.reading[nil] == 0 {
			e.localSince = time.Now()
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

// ended takes the end of a relay, and reports whether it may be continued at the same
// replica: a broken connection says nothing about the replica behind it. If that cannot be
// reached either, reach suspects it.
func (t *Table) ended(relay *edge.Relay, why error) (resumable bool) {
	for _, final := range []error{edge.ErrMoved, edge.ErrAbsent, edge.ErrStopping} {
		if errors.Is(why, final) {
			t.suspect(relay.Member(), why)
			return false
		}
	}
	if time.Since(relay.Opened()) < steady {
		t.suspect(relay.Member(), why)
		return false
	}
	return true
}

// received is what a subscriber has been sent by a relay: enough to continue after a broken
// connection without a reset. It belongs to one goroutine.
type received struct {
	// rev is the revision of the last complete graph; empty for none.
	rev string
	// synced: the subscriber was told that its graph is complete, which is said once.
	synced bool
	// warned are the warnings that the subscriber has.
	warned map[delivery.WarningID]struct{}
	// unconfirmed are those of warned that the holder has not sent since the relay was opened
	// again; nil if it was not.
	unconfirmed map[delivery.WarningID]struct{}
}

// resume returns the revision to continue from. A holder sends all current warnings to a
// subscriber that resumes, but does not clear the warnings that ended in between.
func (r *received) resume() string {
	r.unconfirmed = maps.Clone(r.warned)
	return r.rev
}

// note records frames, and returns them as a subscriber that continues has to get them:
// warnings that have gone while the connection was broken are cleared, and the graph is said
// to be complete once.
func (r *received) note(frames []*delivery.Frame) ([]*delivery.Frame, error) {
	for i := 0; i < len(frames); i++ {
		f := frames[i]
		if f.Reset {
			*r = received{}
		}
		if err := r.noteWarnings(f); err != nil {
			return nil, err
		}
		if f.Synced && r.synced {
			frames[i] = f.WithoutSynced()
		}
		r.synced = r.synced || f.Synced
		if f.Rev == "" {
			continue
		}
		r.rev = f.Rev
		if len(r.unconfirmed) > 0 {
			gone := slices.Collect(maps.Keys(r.unconfirmed))
			frames = slices.Insert(frames, i+1, delivery.ClearedFrames(gone)...)
		}
		r.unconfirmed = nil
	}
	return frames, nil
}

func (r *received) noteWarnings(f *delivery.Frame) error {
	cleared, err := idsOf(f.Cleared)
	if err != nil {
		return err
	}
	for _, id := range cleared {
		delete(r.warned, id)
		delete(r.unconfirmed, id)
	}
	set, err := idsOf(f.Warnings)
	if err != nil {
		return err
	}
	for _, id := range set {
		if r.warned == nil {
			r.warned = make(map[delivery.WarningID]struct{})
		}
		r.warned[id] = struct{}{}
		delete(r.unconfirmed, id)
	}
	return nil
}

// idsOf reads the elements of a list of warnings.
func idsOf(elements []byte) ([]delivery.WarningID, error) {
	if len(elements) == 0 {
		return nil, nil
	}
	var list []delivery.Warning
	if err := json.Unmarshal(slices.Concat([]byte("["), elements, []byte("]")), &list); err != nil {
		return nil, fmt.Errorf("warnings of another replica: %w", err)
	}
	ids := make([]delivery.WarningID, len(list))
	for i := range list {
		ids[i] = list[i].ID()
	}
	return ids, nil
}
