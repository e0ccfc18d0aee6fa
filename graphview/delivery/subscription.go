package delivery

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"graphview.dev/api/contents"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// SubscribeOptions select the start and the content of a subscription.
type SubscribeOptions struct {
	// Since is the revision of the last complete graph that the subscriber has, "" for none. If it
	// cannot be resumed, the subscriber is reset.
	Since string
	// Have has the sums of the graph that the subscriber has, from any process and with any rights. If
	// Since cannot be resumed, the reset keeps equal buckets. A part of a graph is not compared.
	Have *contents.Have
	// Sums is charged for Have. The subscription closes it when the sums have been compared.
	Sums *budget.Account
	// Tags sends the tags of contents, for a subscriber that will send Have later. If it would be reset
	// after that, the subscription ends with the reason Outdated.
	Tags bool
	// Access has the rights of the subscriber. Nil allows everything.
	Access Access
	// Content selects the content of objects.
	Content Content
	// JoinWalk: the first graph may be up to a second old, so that subscribers that begin within a
	// second share messages. The changes since then follow, so it suits only subscribers that keep
	// reading.
	JoinWalk bool
	// Owner is the tenant that the turns and costs of the subscription are charged to.
	Owner budget.Owner
	// Narrow is the part of the graph that is sent, nil for the whole graph. Memory and Visits are charged
	// for it. Without them, the part costs nothing.
	Narrow *graph.Narrowing
	Memory *budget.Account
	Visits *budget.Bucket
	// Past sends the graph as it was, once; nil for the present graph and its changes. Content is then
	// SummaryOnly, and Narrow nil.
	Past *Past
	// Only selects vertices of the whole graph, for a subscriber that closes the subscription once it has the graph. Nil: all
	// vertices.
	Only *graph.Notable
}

// Subscription is the position of one subscriber in a view. It has no queue: messages are made from
// the graph when the subscriber asks for them. One goroutine at a time may use it.
type Subscription struct {
	publisher   *Publisher
	access      Access
	owner       budget.Owner
	wanted      viewer          // the options, without rights
	narrow      *narrowing      // nil: the whole graph
	since       revision        // until it is known whether the subscriber continues there; zero: it does not
	have        *contents.Have  // until it has been compared, or is not needed; nil: nothing to compare
	sums        *budget.Account // of have; nil: it is not charged
	syncing     bool            // the subscriber knows that the view is not complete
	hasGraph    bool            // the subscriber has a graph that a comparison could keep
	digest      string          // of the viewer that has the state
	revoked     <-chan struct{}
	state       state
	joins       bool
	walk        *walk    // that the state belongs to; nil if it is not shared
	encoded     *encoded // for the next Poll, or nil
	awaited     *pendingError
	wait        Wait // of the last Poll of Next; nil before
	commitWaits commitWaits
	began       int // State.Interruptions of the view at the start
	closing     sync.Once
}

// Subscribe begins a subscription. The caller must close it.
func (p *Publisher) Subscribe(o SubscribeOptions) *Subscription {
	p.subscribers.Add(1)
	p.o.Shared.subscribers.Add(1)
	p.o.Notify()
	s := &Subscription{
		publisher: p, access: o.Access, owner: o.Owner, wanted: viewer{content: o.Content, tags: o.Tags, past: o.Past, only: o.Only},
		narrow: newNarrowing(&o), joins: o.JoinWalk && o.Narrow == nil && o.Past == nil, began: p.o.State.Now().Interruptions,
	}
	if s.narrow != nil {
		s.wanted.narrow = s.narrow.mark
	} else {
		s.have = o.Have
	}
	if s.sums = o.Sums; s.have == nil {
		s.dropHave()
	}
	if o.Since != "" {
		s.state.reset, s.since = true, p.decode(o.Since, s.wanted)
	}
	return s
}

// Close ends the subscription, and is idempotent.
func (s *Subscription) Close() {
	s.closing.Do(func() {
		p := s.publisher
		s.dropHave()
		if s.narrow != nil {
			s.narrow.close()
		}
		p.o.Shared.subscribers.Add(-1)
		if p.subscribers.Add(-1) == 0 {
			p.dropShared()
		}
		p.o.Notify()
	})
}

// dropHave frees the sums of the subscriber.
func (s *Subscription) dropHave() {
	if s.have = nil; s.sums != nil {
		s.sums.Close()
	}
}

// Next waits until there is something to send. It returns one or more frames, to be sent in order.
// The last frame of the whole graph and of each change has a Rev. The error is a *ClosedError if the
// subscription is over, or that of ctx. In the latter case the caller may call again.
func (s *Subscription) Next(ctx context.Context) ([]*Frame, error) {
	for {
		// Another Poll without a Wait would find nothing most of the time.
		if s.wait != nil {
			if err := s.wait(ctx); err != nil {
				return nil, err
			}
		}
		frames, wait, err := s.Poll()
		s.wait = wait
		if err != nil || len(frames) > 0 {
			return frames, err
		}
	}
}

// Wait returns when a further Poll may return frames: at once, if the Poll that returned it did not see
// everything. Errors are those of Next.
type Wait func(ctx context.Context) error

// Poll returns the frames that can be sent now, possibly none, and a function that waits until the caller
// should call Poll again. Poll does a bounded amount of work. It blocks during a commit only after
// maxCommitWaits others. The error is a *ClosedError.
func (s *Subscription) Poll() ([]*Frame, Wait, error) {
	frames, next, err := s.poll()
	if err != nil {
		return nil, nil, err
	}
	return frames, func(ctx context.Context) error { return s.waitFor(ctx, &next) }, nil
}

// poll is Poll. If it returns no frames and no error, a subscription that has nothing to send waits for
// the pause.
func (s *Subscription) poll() (frames []*Frame, wait pause, err error) {
	p := s.publisher
	now := p.o.State.Now()
	if now.Interruptions != s.began {
		return nil, wait, now.Why
	}
	if why := now.Err(); why != nil {
		return nil, wait, why
	}
	wait.news = now.News // from before the read, so that no later change is missed
	v := s.viewer()
	lens := p.Lens()
	switch {
	case lens == nil, v.past != nil && v.past.over:
		return nil, wait, nil
	case s.hasGraph && s.state.reset && s.state.kept == nil:
		return nil, wait, errOutdated
	case s.compares():
		return s.pollHave(wait)
	}
	if wait.changed, v.waits = s.commitWaits.next(lens); wait.changed != nil {
		// Do not block, since the caller may have other graphs to serve.
		return nil, wait, nil
	}
	if n := s.narrow; n != nil {
		if wait.until = n.ready(); time.Now().Before(wait.until) {
			return nil, wait, nil
		}
		v.part = n.of(lens)
	}
	if s.encoded == nil {
		v.awaited, s.awaited = s.awaited, nil
		if s.takesTurns() && v.awaited == nil {
			wait.turn = &v
			return nil, wait, nil
		}
		if s.state.pos.Walking() {
			s.yield()
		}
		s.encode(lens, v)
	}
	frames, next, err := s.encoded.frames, s.encoded.next, s.encoded.err
	s.encoded = nil
	if pending, ok := errors.AsType[*pendingError](err); ok {
		s.awaited, wait.changed = pending, pending.piece.done
		return nil, wait, nil
	}
	if s.narrow != nil {
		if err = s.narrow.settle(err); next.reset {
			s.narrow.part = nil
		}
	}
	if errors.Is(err, graph.ErrCommitting) {
		wait.changed, _ = s.commitWaits.next(lens)
		wait.moved = wait.changed == nil // it is committed by now, or the next Poll blocks
		return nil, wait, nil
	}
	s.commitWaits = commitWaits{}
	if closed, ok := errors.AsType[*ClosedError](err); ok {
		return nil, wait, closed
	}
	if err != nil {
		wait.missing = err
		return nil, wait, nil //nolint:nilerr // Wait resolves it
	}
	// Get the channel before isCurrent compares the rest, so that no later change is missed.
	wait.changed, wait.published = lens.Changed(next.pos.Known), true
	unfinished := next != s.state && (len(frames) == 0 || next.pos.Walking() || next.reset)
	// A warning or the sync state may have changed after a shared piece was encoded.
	wait.moved = unfinished || !p.isCurrent(lens, next)
	if !next.reset && s.have != nil {
		s.dropHave() // it continues after its revision
	}
	s.state, s.since = next, revision{}
	if v.past != nil && next.pos.Known > 0 && !next.pos.Walking() {
		v.past.over = true
	}
	s.hasGraph = s.hasGraph || s.wanted.tags && next.pos.Known > 0
	return frames, wait, nil
}

// yield lets the others run that have something to send. The next publication waits for the subscriber, as for
// notified ones, so that it does not fall further behind them.
func (s *Subscription) yield() {
	waiting := s.publisher.waiting.Load()
	waiting.Add(1)
	runtime.Gosched()
	waiting.Add(-1)
}

// encoded has the results of Subscription.next.
type encoded struct {
	frames []*Frame
	next   state
	err    error
}

func (s *Subscription) encode(lens *graph.Lens, v viewer) {
	frames, next, err := s.next(lens, v)
	s.encoded = &encoded{frames, next, err}
}

// takesTurns reports whether the subscription needs turns because it encodes pieces of a whole graph.
// Without turns, thousands of these would delay the subscribers that are current.
func (s *Subscription) takesTurns() bool {
	return s.state.pos.Known == 0 && s.narrow == nil && s.publisher.o.Shared.Turn != nil
}

// encodeInTurn waits for a turn, and then encodes a piece for the next Poll. If another subscriber is
// encoding it in a turn of its own, encodeInTurn waits for that without a turn.
func (s *Subscription) encodeInTurn(ctx context.Context, v *viewer) error {
	if err := s.encodeOnceInTurn(ctx, v); err != nil {
		return err
	}
	pending, ok := errors.AsType[*pendingError](s.encoded.err)
	if !ok {
		return nil
	}
	s.encoded, s.awaited = nil, pending
	select {
	case <-pending.piece.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Subscription) encodeOnceInTurn(ctx context.Context, v *viewer) error {
	release, err := s.publisher.o.Shared.Turn(ctx, s.owner)
	if err != nil {
		return err
	}
	defer release()
	s.encode(s.publisher.Lens(), *v)
	return nil
}

// next calls Publisher.next with the state and the walk of the subscription.
func (s *Subscription) next(lens *graph.Lens, v viewer) (frames []*Frame, to state, err error) {
	from, on := s.state, s.walk
	if s.joins && from.pos == (graph.Position{}) {
		if on, err = s.publisher.changes.walk(lens, v); err != nil {
			return nil, from, err
		}
		from.pos = on.at
	}
	frames, to, err = s.publisher.next(lens, from, on, v)
	if _, pending := errors.AsType[*pendingError](err); pending {
		s.state.pos, s.walk = from.pos, on // where the piece begins that it waits for
	}
	switch {
	case err != nil:
		return nil, from, err
	case to.reset:
		// The walk is older than the tombstones.
		s.publisher.changes.leave(on, v)
		on = nil
	case !to.pos.Walking():
		on = nil
	}
	s.walk = on
	return frames, to, nil
}

// pause has the events that a subscription waits for after a Poll.
type pause struct {
	missing       error // an *unknownError that must be resolved first
	moved         bool  // there is more to read
	news, changed <-chan struct{}
	published     bool      // changed is closed by a publication
	turn          *viewer   // the wait encodes a piece for it in a turn; nil: no turn is needed
	compares      bool      // the wait compares the subscriber's graph
	until         time.Time // the next visit of a narrowed graph is allowed
}

// waitFor is Wait.
func (s *Subscription) waitFor(ctx context.Context, p *pause) error {
	switch {
	case p.missing != nil:
		return resolve(ctx, s.access, p.missing)
	case p.moved:
		return ctx.Err()
	case p.turn != nil:
		return s.encodeInTurn(ctx, p.turn)
	case p.compares:
		return s.compare(ctx)
	}
	var ready <-chan time.Time
	if wait := time.Until(p.until); wait > 0 {
		ready = time.After(wait)
	}
	// Deferred calls would enlarge the stack frame of each idle subscriber.
	waiting := s.publisher.waiting.Load()
	if p.published {
		waiting.Add(1)
	}
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case <-ready:
	case <-p.news:
	case <-p.changed:
	case <-s.revoked:
	}
	if p.published {
		waiting.Add(-1)
	}
	return err
}

// viewer returns the subscriber's current rights and its options. If the rights are those of its revision, the
// subscriber continues there. If they have changed, it is reset.
func (s *Subscription) viewer() viewer {
	v := s.wanted
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
		v.rights = s.access.Rights()
	}
	digest := v.digest()
	switch {
	case s.since.isFor(v):
		s.startAt(state{pos: graph.Position{Known: s.since.known}})
		s.since = revision{}
	case changed && digest != s.digest:
		s.startAt(state{reset: true})
	}
	s.digest = digest
	return v
}

func (s *Subscription) startAt(from state) {
	s.state, s.encoded = from, nil
	if s.narrow != nil {
		s.narrow.part = nil
	}
}

// maxCommitWaits is the number of successive commits of a late view for which Poll returns nothing.
// Poll then blocks until the next one ends, which delays the other graphs of its caller. Otherwise it
// would have to run between two commits, and under constant load hundreds may pass before it does.
const maxCommitWaits = 4

// commitWaits counts the commits of a late view that Poll met since it last read the graph.
type commitWaits struct {
	commits int
	last    <-chan struct{}
}

// next returns a channel that is closed when the current commit ends, nil if Poll may read now.
// waits reports whether that read may block.
func (m *commitWaits) next(lens *graph.Lens) (ended <-chan struct{}, waits bool) {
	if ended = lens.Committing(); ended != nil && ended != m.last {
		m.commits, m.last = m.commits+1, ended
	}
	if m.commits > maxCommitWaits {
		return nil, true
	}
	return ended, false
}
