package delivery

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/graph"
)

// readLimit bounds one read. The number of log elements bounds the time under the graph's lock. The
// number of bytes, without the element that exceeds it, bounds the memory for a subscriber that does
// not read.
type readLimit struct{ elements, bytes int }

var (
	// catchUpLimit is the limit of a subscriber that catches up. A subscriber that does not read
	// holds a piece, the element that exceeds the limit unless it is large, and a TLS record: 64 KiB.
	catchUpLimit = readLimit{elements: 256, bytes: 32 << 10}
	// changeLimit is the limit of a change, which is encoded once for all subscribers. It has as many
	// bytes, since each subscriber may stop reading at another change.
	changeLimit = readLimit{elements: 4096, bytes: catchUpLimit.bytes}
)

// Publisher encodes the lens of a view as messages.
type Publisher struct {
	source Source
	// lens is nil until the view has one.
	lens        atomic.Pointer[graph.Lens]
	subscribers atomic.Int64
	changes     sharedChanges
	kinds       kindsOf
	summaries   summaries

	arrivalsMu sync.Mutex
	arrivals   []arrival // oldest first
}

// NewPublisher returns the Publisher of a view that has no lens yet.
func NewPublisher(source Source) *Publisher {
	return &Publisher{source: source, changes: sharedChanges{inAll: &source.Shared.kept}}
}

// SetLens sets the lens of the view. It is called once.
func (p *Publisher) SetLens(l *graph.Lens) { p.lens.Store(l) }

// Lens returns nil before SetLens.
func (p *Publisher) Lens() *graph.Lens { return p.lens.Load() }

// Subscribers returns the number of subscribers.
func (p *Publisher) Subscribers() int { return int(p.subscribers.Load()) }

// state has everything that a subscriber's next messages depend on, except its viewer.
type state struct {
	pos    graph.Position
	warned uint64      // number of the last warning it was sent
	synced bool        // it was sent that the view is synced
	reset  bool        // the next message replaces the whole graph
	denied *warningSet // that it was sent
	absent *warningSet // of roots, that it was sent
	kinds  *kinds      // that it was sent
	named  uint64      // Scope.Named by which its warnings were chosen
}

// place is equal for states that lead to the same messages, see graph.Position.Place.
func (s state) place() state {
	s.pos = s.pos.Place()
	return s
}

// viewer has the rights and options of a subscriber. Subscribers of equal digest are sent the same.
type viewer struct {
	rights          Rights
	content         Content
	excludeInferred bool
	narrow          string          // the mark of the part of the graph, "" for the whole graph
	part            *graph.Narrowed // nil for the whole graph
	waits           bool            // Poll blocks during a commit outside the lock; not in the digest
	endTurn         func()          // ends the subscriber's turn, idempotent; nil: it has none
}

// wants distinguishes viewers with the same rights.
func (v viewer) wants() string {
	wants := v.content.mark()
	if v.excludeInferred {
		wants += "\x00declared"
	}
	return wants + v.narrow
}

func (v viewer) digest() string { return digestOf(v.rights) + v.wants() }

// next returns the messages that follow a state, which may be none, and the state after them. An
// unknownError has the rights that must be resolved first. On is the walk of the subscriber, nil for
// none.
func (p *Publisher) next(lens *graph.Lens, from state, on *walk, who viewer) ([]*Frame, state, error) {
	if who.part != nil || from.pos.Known == 0 && (on == nil || !on.joined.Load()) {
		return p.encode(lens, from, who, catchUpLimit)
	}
	return p.changes.next(p, lens, from, who)
}

// lacksNothing reports whether a state has everything that is not in the graph.
func (p *Publisher) lacksNothing(lens *graph.Lens, s state) bool {
	return s.warned == p.source.Warnings.head() && (s.synced || !p.source.Synced()) && s.kinds == p.kinds.of(lens) &&
		(s.denied == nil || s.denied.generation == p.source.Scope().Generation)
}

// encode reads a piece of the graph and encodes it as messages.
func (p *Publisher) encode(lens *graph.Lens, from state, who viewer, limit readLimit) ([]*Frame, state, error) {
	to := from
	// Before the graph is read, which then has all objects of a synced view.
	synced := p.source.Synced()
	set, cleared, warned, ok := p.source.Warnings.since(from.warned)
	if !ok {
		return nil, state{reset: true}, nil
	}
	to.warned = warned

	gate := newGate(who.rights)
	denied := from.denied
	if who.rights != nil {
		// Before the graph is read: changes that a narrowed graph emits count as sent, so all
		// rights have to be known by then.
		scope := p.source.Scope()
		if from.warned != 0 && from.named != scope.Named {
			return nil, state{reset: true}, nil // it has other warnings than it may see now
		}
		to.named = scope.Named
		set, cleared = gate.permitted(set, scope.Namespaces), gate.permitted(cleared, scope.Namespaces)
		denied = p.deniedTo(who, gate)
	}
	b := newFrameBuilder(from.reset)
	b.large = &p.source.Shared.large
	changes, done, err := p.read(lens, &to.pos, who, gate, limit, b)
	switch {
	case errors.Is(err, graph.ErrGone):
		return nil, state{reset: true}, nil
	case errors.Is(err, graph.ErrCommitting):
		return nil, from, err
	case err != nil:
		return nil, from, tooLarge(err)
	}
	if err := gate.err(); err != nil {
		return nil, from, err
	}
	if done && denied != from.denied {
		more, fewer := denied.since(from.denied)
		set, cleared, to.denied = append(set, more...), append(cleared, fewer...), denied
	}
	if done && who.part != nil {
		var more, fewer []Warning
		more, fewer, to.absent = absentRoots(who.part, from.absent)
		set, cleared = append(set, more...), append(cleared, fewer...)
	}
	for i := range changes {
		p.add(b, &changes[i], who.content, from.pos.Known)
	}
	to.reset = false
	rev := ""
	tellSynced := done && synced && !from.synced
	if done && (from.pos.Known == 0 || from.pos.Walking() || b.count > 0 || len(b.frames) > 0 || tellSynced) {
		rev = p.source.Run.encode(p.revision(who, to.pos.Known))
		if p.source.Shared.Recall {
			p.source.Shared.rightsCache.keep(who)
		}
	}
	to.synced = from.synced || tellSynced
	if done && who.content == SummaryOnly {
		p.summaries.shrink(lens.Vertices())
	}
	if done {
		if now := p.kinds.of(lens); now != from.kinds {
			b.kinds, to.kinds = now.text, now
		}
	}
	b.warn(set, cleared)
	b.close(rev, tellSynced)
	if b.err != nil {
		p.source.Logger.Error(b.err, "Content left out of a message", "view", p.source.Name)
	}
	if len(b.frames) > 0 {
		p.source.Shared.encodings.Add(1)
	}
	if limit == changeLimit {
		received := p.arrivedAfter(from.pos.Known)
		for _, f := range b.frames {
			if !f.shared {
				f.Received = received
			}
		}
	}
	return b.frames, to, nil
}

// read collects the changes of a piece under the graph's lock, and makes room for them in the
// builder.
func (p *Publisher) read(lens *graph.Lens, pos *graph.Position, who viewer, g *gate, limit readLimit, b *frameBuilder) ([]graph.Change, bool, error) {
	var changes []graph.Change
	size, own := 0, 0 // own is without large objects, which are shared
	content := who.content
	how := graph.Reading{Allow: g.allow(), All: content == SummaryOnly, ExcludeInferred: who.excludeInferred, NoWait: !who.waits}
	take := func(c graph.Change) bool {
		changes = append(changes, c)
		n := sizeOf(&c, content)
		size += n
		if _, large := largeKeyOf(&c); !large || b.large == nil || content != WholeObject {
			own += n
		}
		return size < limit.bytes
	}
	var done bool
	var err error
	if who.part != nil {
		done, err = who.part.Read(pos, limit.elements, how, g.knowsAll, take)
	} else {
		done, err = lens.Read(pos, limit.elements, how, take)
	}
	b.grow(own)
	return changes, done, err
}

// add encodes one change, unless a reader of the revision known already has the content.
func (p *Publisher) add(b *frameBuilder, c *graph.Change, content Content, known uint64) {
	if content == WholeObject {
		b.add(c)
		return
	}
	switch {
	case c.Op == graph.DeleteVertex:
		p.summaries.forget(c.Node)
	case c.Op == graph.SetVertex && content == KeysOnly:
		if !c.Appeared {
			return
		}
		c.Payload, c.Part = nil, nil
	case c.Op == graph.SetVertex:
		text, has, err := p.summaries.of(c, known)
		if err != nil {
			b.err = err
		}
		if has && err == nil {
			return
		}
		c.Payload, c.Part = summaryText(text), nil
	}
	b.add(c)
}

// startAt returns the state of a subscriber that resumes after a revision. The error is an
// *unknownError if that depends on unknown rights.
func (p *Publisher) startAt(since string, who viewer) (state, error) {
	if since == "" {
		return state{}, nil
	}
	r, ok := p.source.Run.decode(since)
	switch {
	case !ok || r.view != p.revision(who, r.known).view:
		return state{reset: true}, nil
	case r == p.revision(who, r.known):
		return state{pos: graph.Position{Known: r.known}}, nil
	default:
		return state{reset: true}, p.source.Shared.rightsCache.missing(r.rights, who)
	}
}

// dropShared drops all caches when the last subscriber has left.
func (p *Publisher) dropShared() {
	p.changes.forget()
	p.summaries.clear()
}

// maxArrivals bounds the revisions of a view whose arrival is remembered.
const maxArrivals = 64

// Arrived records when the first event of revision head was received. The graph's writer calls it,
// in order.
func (p *Publisher) Arrived(head uint64, at time.Time) {
	p.arrivalsMu.Lock()
	defer p.arrivalsMu.Unlock()
	if len(p.arrivals) == maxArrivals {
		p.arrivals = append(p.arrivals[:0], p.arrivals[maxArrivals/2:]...)
	}
	p.arrivals = append(p.arrivals, arrival{head, at})
}

// arrival is when the first event of a revision was received.
type arrival struct {
	head uint64
	at   time.Time
}

// arrivedAfter returns when the oldest change after a revision was received, or the oldest that is
// remembered.
func (p *Publisher) arrivedAfter(known uint64) time.Time {
	p.arrivalsMu.Lock()
	defer p.arrivalsMu.Unlock()
	for _, a := range p.arrivals {
		if a.head > known {
			return a.at
		}
	}
	return time.Time{}
}

// kinds has the kinds of the resources that a view watches, as elements of the member "kinds". It is
// immutable.
type kinds struct{ text []byte }

// kindsOf caches the kinds of a view's lens. The pointer changes only if the text does.
type kindsOf struct {
	mu  sync.Mutex
	rev uint64 // revision of the lens at which now was last found to be current
	now *kinds
}

// of returns the current kinds, nil before the first.
func (k *kindsOf) of(lens *graph.Lens) *kinds {
	k.mu.Lock()
	defer k.mu.Unlock()
	used, rev := lens.Uses(k.rev)
	if rev <= k.rev {
		return k.now
	}
	k.rev = rev
	if text := appendKinds(nil, used); k.now == nil || string(text) != string(k.now.text) {
		k.now = &kinds{text}
	}
	return k.now
}

func appendKinds(dst []byte, used []graph.Used) []byte {
	used = slices.SortedFunc(slices.Values(used), func(a, b graph.Used) int {
		return cmp.Or(cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource))
	})
	for i := range used {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"g":`...)
		dst = appendString(dst, used[i].Resource.Group)
		dst = append(dst, `,"v":`...)
		dst = appendString(dst, used[i].Resource.Version)
		dst = append(dst, `,"r":`...)
		dst = appendString(dst, used[i].Resource.Resource)
		dst = append(dst, `,"k":`...)
		dst = append(appendString(dst, used[i].Kind.Kind), '}')
	}
	return dst
}
