package delivery

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// SubscribeOptions say where a subscription begins and what it may see.
type SubscribeOptions struct {
	// Since is the revision of the last complete graph that the subscriber has,
	// "" for none. One that cannot be honoured leads to a reset.
	Since string
	// Access restricts what is sent; nil means everything.
	Access Access
	// Content is what is sent of each object.
	Content Content
	// ExcludeInferred leaves out the references that are only inferred. What the view's roots
	// lead to is the same; what those of Narrow lead to is not.
	ExcludeInferred bool
	// JoinWalk: a graph that is sent whole may first be as it was up to a second ago, as
	// others are being sent it who began then. What has changed since follows. It is for
	// those who follow the graph.
	JoinWalk bool
	// Owner is the subscriber, as turns and costs are counted.
	Owner budget.Owner
	// Narrow is the part of the graph that is sent, nil for all of it. Payer charges its cost to
	// the owner; nil: it costs nothing.
	Narrow *graph.Narrowing
	Payer  Payer
}

// Subscription is one subscriber's position in a view. It holds no queue: what
// it has not fetched is made from the graph when it does. Next is for one
// goroutine at a time.
type Subscription struct {
	publisher *Publisher
	access    Access
	owner     budget.Owner
	wanted    viewer     // but for the rights
	narrow    *narrowing // nil: the whole graph
	since     string     // until the first Next
	begun     bool
	digest    string // of the viewer that the state is of
	revoked   <-chan struct{}
	state     state
	joins     bool
	walk      *walk    // that the state is of; nil: of none, or of its own
	encoded   *encoded // for the next Poll, nil for none
	polled    bool
	pause     pause // since it has polled
	missed    missed
	ends      *Interruption
	closing   sync.Once
}

// Subscribe begins a subscription. It is to be closed.
func (p *Publisher) Subscribe(o SubscribeOptions) *Subscription {
	p.subscribers.Add(1)
	p.source.Shared.subscribers.Add(1)
	p.source.Notify()
	s := &Subscription{
		publisher: p, access: o.Access, owner: o.Owner, wanted: viewer{content: o.Content, excludeInferred: o.ExcludeInferred},
		narrow: newNarrowing(o.Narrow, o.Payer), since: o.Since, joins: o.JoinWalk && o.Narrow == nil, ends: p.source.Interruption(),
	}
	if s.narrow != nil {
		s.wanted.narrow = s.narrow.mark
	}
	return s
}

// Close ends the subscription. It is idempotent.
func (s *Subscription) Close() {
	s.closing.Do(func() {
		p := s.publisher
		if s.narrow != nil {
			s.narrow.close()
		}
		p.source.Shared.subscribers.Add(-1)
		if p.subscribers.Add(-1) == 0 {
			p.forget()
		}
		p.source.Notify()
	})
}

// Next waits until there is something to send and returns it: one or more
// frames, to be written in order. The last one of a whole graph, and of every
// change after it, has a Rev. The error is a *ClosedError when the subscription
// is over, and ctx's when the caller gave up, who may call again.
func (s *Subscription) Next(ctx context.Context) ([]*Frame, error) {
	for {
		// Wait returns at once if anything has come that the last Poll did not see. Another
		// Poll without a Wait would find nothing, most of the time.
		if s.polled {
			if err := s.Wait(ctx); err != nil {
				return nil, err
			}
		}
		frames, err := s.Poll()
		if err != nil || len(frames) > 0 {
			return frames, err
		}
	}
}

// Poll returns what there is to send now, which may be nothing. Wait says when to
// ask again. It does a bounded piece of work, and may wait for a revision to be made
// where it found one being made several times before. The error is a *ClosedError.
func (s *Subscription) Poll() ([]*Frame, error) {
	p := s.publisher
	s.polled, s.pause = true, pause{}
	select {
	case <-s.ends.Over:
		return nil, s.ends.Why
	default:
	}
	if err := p.source.Err(); err != nil {
		return nil, closedBy(err)
	}
	// Channels first, so that what happens from here on wakes us.
	s.pause.news = p.source.News()
	who, err := s.viewer()
	if err != nil {
		s.pause.missing = err
		return nil, nil //nolint:nilerr // Wait finds it out
	}
	lens := p.Lens()
	if lens == nil {
		return nil, nil
	}
	if s.pause.changed, who.waits = s.missed.next(lens); s.pause.changed != nil {
		// Whoever asks may have other graphs to look at meanwhile.
		return nil, nil
	}
	if n := s.narrow; n != nil {
		if s.pause.until = n.ready(); time.Now().Before(s.pause.until) {
			return nil, nil
		}
		who.part = n.of(lens)
	}
	if s.encoded == nil {
		if s.takesTurns() {
			turn := who // so that who does not escape
			s.pause.turn = &turn
			return nil, nil
		}
		if s.state.pos.Walking() {
			runtime.Gosched() // subscribers that have a change to send go first
		}
		s.encode(lens, who)
	}
	frames, next, err := s.encoded.frames, s.encoded.next, s.encoded.err
	s.encoded = nil
	if s.narrow != nil {
		if err = s.narrow.settle(err); next.reset {
			s.narrow.part = nil
		}
	}
	if errors.Is(err, graph.ErrAside) {
		s.pause.changed, _ = s.missed.next(lens)
		s.pause.moved = s.pause.changed == nil // by now it is committed, or has to be waited for
		return nil, nil                        // Wait waits for it
	}
	s.missed = missed{}
	if closed, ok := errors.AsType[*ClosedError](err); ok {
		return nil, closed
	}
	if err != nil {
		s.pause.missing = err
		return nil, nil //nolint:nilerr // as above
	}
	// A change that was read to its end leaves nothing but what comes, and so does to have
	// read nothing, unless it was encoded for somebody else before something that is no
	// change of the graph.
	s.pause.moved = next != s.state && (len(frames) == 0 || next.pos.Walking() || next.reset) || !p.lacksNothing(lens, next)
	s.state = next
	s.pause.changed = lens.Changed(next.pos.Known)
	return frames, nil
}

// encoded is the result of next.
type encoded struct {
	frames []*Frame
	next   state
	err    error
}

func (s *Subscription) encode(lens *graph.Lens, who viewer) {
	frames, next, err := s.next(lens, who)
	s.encoded = &encoded{frames, next, err}
}

// takesTurns reports whether the subscription encodes pieces of a whole graph. Thousands of
// subscribers that do so at the same time would delay those that have a change to send.
func (s *Subscription) takesTurns() bool {
	return s.state.pos.Known == 0 && s.narrow == nil && s.publisher.source.Shared.Turn != nil
}

// encodeInTurn waits for a turn, in which it encodes a piece for the next Poll.
func (s *Subscription) encodeInTurn(ctx context.Context) error {
	release, err := s.publisher.source.Shared.Turn(ctx, s.owner)
	if err != nil {
		return err
	}
	who := *s.pause.turn
	who.endTurn = sync.OnceFunc(release)
	defer who.endTurn()
	s.encode(s.publisher.Lens(), who)
	return nil
}

// next is Publisher.next from where the subscription is.
func (s *Subscription) next(lens *graph.Lens, who viewer) (frames []*Frame, to state, err error) {
	from, on := s.state, s.walk
	if s.joins && from.pos == (graph.Position{}) {
		if on, err = s.publisher.changes.walk(lens, who); err != nil {
			return nil, from, err
		}
		from.pos = on.at
	}
	frames, to, err = s.publisher.next(lens, from, on, who)
	switch {
	case err != nil:
		return nil, from, err
	case to.reset:
		// It is too long ago by now.
		s.publisher.changes.leave(on, who)
		on = nil
	case !to.pos.Walking():
		on = nil
	}
	s.walk = on
	return frames, to, nil
}

// pause is what a subscription waits for after a Poll.
type pause struct {
	missing       error // rights that have to be known first
	moved         bool  // there is more to read
	news, changed <-chan struct{}
	turn          *viewer   // a piece is encoded for it in a turn; nil: no turn is needed
	until         time.Time // nothing is looked at before
}

// Wait returns when Poll, which has been called, may return something more: at once
// where it has not looked at everything yet. Errors are those of Next.
func (s *Subscription) Wait(ctx context.Context) error {
	switch {
	case s.pause.missing != nil:
		return resolve(ctx, s.access, s.pause.missing)
	case s.pause.moved:
		return ctx.Err()
	case s.pause.turn != nil:
		return s.encodeInTurn(ctx)
	}
	var ready <-chan time.Time
	if wait := time.Until(s.pause.until); wait > 0 {
		// A deferred Stop would make the frame larger that an idle subscriber's stack holds.
		ready = time.After(wait)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-ready:
	case <-s.ends.Over:
	case <-s.pause.news:
	case <-s.pause.changed:
	case <-s.revoked:
	}
	return nil
}

// viewer returns the subscriber's rights now, and what it wants. Where the rights
// have changed, what it was sent before is to be forgotten. The error says which
// rights have to be known first.
func (s *Subscription) viewer() (viewer, error) {
	who := s.wanted
	changed := false
	if s.access != nil {
		select {
		case <-s.revoked:
			changed = true
		default:
		}
		if changed || s.revoked == nil {
			s.revoked = s.access.Changed()
		}
		who.rights = s.access.Rights()
	}
	digest := who.digest()
	switch {
	case !s.begun:
		state, err := s.publisher.begin(s.since, who)
		if err != nil {
			return who, err
		}
		s.begun, s.state = true, state
		s.since = "" // a part of the request's text
	case changed && digest != s.digest:
		s.state, s.encoded = state{reset: true}, nil
		if s.narrow != nil {
			s.narrow.part = nil
		}
	}
	s.digest = digest
	return who, nil
}

// closedBy turns the reason why a view is not served into how a subscription
// of it ends.
func closedBy(err error) *ClosedError {
	if c, ok := errors.AsType[*ClosedError](err); ok {
		return c
	}
	return &ClosedError{Reason: reason.Invalid, Message: err.Error()}
}
