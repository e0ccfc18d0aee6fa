package delivery

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/graph"
)

// readLimit bounds one read. The number of log elements bounds the time under the graph's lock. The
// number of bytes, which the last element may exceed, bounds the memory for a subscriber that stops
// reading.
type readLimit struct{ elements, bytes int }

var (
	// catchUpLimit is the limit for a subscriber that catches up. If it stops reading, it holds a
	// piece, its last element unless that is large, and a TLS record: 64 KiB.
	catchUpLimit = readLimit{elements: 256, bytes: 32 << 10}
	// changeLimit is the limit for a change, which is encoded once for all subscribers. It allows no
	// more bytes, since each subscriber may stop reading at a different change.
	changeLimit = readLimit{elements: 4096, bytes: catchUpLimit.bytes}
)

// Publisher encodes the lens of a view as messages.
type Publisher struct {
	o PublisherOptions
	// lens is nil before SetLens.
	lens        atomic.Pointer[graph.Lens]
	subscribers atomic.Int64
	changes     sharedChanges
	kinds       kindsOf
	summaries   summaries

	// waiting counts the subscribers that wait for the next publication or for a processor, and told those of them at
	// the last publication that have not run since.
	waiting, told atomic.Pointer[atomic.Int64]

	arrivalsMu sync.Mutex
	arrivals   []arrival // oldest first
}

// NewPublisher returns the Publisher of a view that has no lens yet.
func NewPublisher(o PublisherOptions) *Publisher {
	p := &Publisher{o: o, changes: sharedChanges{hold: o.Hold}, summaries: summaries{hold: o.Hold}}
	p.waiting.Store(new(atomic.Int64))
	p.told.Store(new(atomic.Int64))
	return p
}

// SetLens sets the lens of the view. It is called once, and again while the view is not served.
func (p *Publisher) SetLens(l *graph.Lens) {
	p.lens.Store(l)
	p.dropShared() // subscriptions of the former lens end
}

// Lens returns the lens of the view, nil before SetLens.
func (p *Publisher) Lens() *graph.Lens { return p.lens.Load() }

// Subscribers returns the number of subscribers.
func (p *Publisher) Subscribers() int { return int(p.subscribers.Load()) }

// Told returns the number of subscribers that waited when the last revision was published and have not run since. It
// does not count subscribers that wait for their peers.
func (p *Publisher) Told() int { return int(p.told.Load().Load()) }

// state has everything that a subscriber's next messages depend on, except its viewer.
type state struct {
	pos    graph.Position
	warned uint64      // number of the last warning that was sent
	synced bool        // a message with synced was sent
	reset  bool        // the next message replaces the graph, except kept
	kept   *kept       // until the subscriber has the whole graph; nil: nothing is kept
	denied *warningSet // ACCESS_DENIED warnings that were sent last
	absent *warningSet // warnings about roots that were sent last
	kinds  *kinds      // kinds that were sent last
	named  uint64      // Scope.Named when its warnings were chosen
}

// pieceKey returns equal values for states that lead to the same messages, see graph.Position.Place.
func (s state) pieceKey() state {
	s.pos = s.pos.Place()
	return s
}

// viewer has the rights and options of a subscriber. Equal digests mean equal messages.
type viewer struct {
	rights  Rights
	content Content
	tags    bool            // vertices have the tags of their contents
	narrow  string          // the mark of the part of the graph, "" for the whole graph
	only    *graph.Notable  // nil for all vertices
	part    *graph.Narrowed // nil for the whole graph
	past    *Past           // nil for the present graph
	waits   bool            // Poll blocks while the view is late; not in the digest
	awaited *pendingError   // the piece that the subscriber has waited for, nil for none; not in the digest
}

// optionsDigest returns the part of the digest for the options of the viewer.
func (v viewer) optionsDigest() string {
	tags := ""
	if v.tags {
		tags = "\x00tags"
	}
	only := ""
	if v.only != nil {
		only = "\x00only" // a revision that no other subscriber continues from
	}
	return v.content.mark() + tags + v.narrow + only
}

func (v viewer) digest() string { return digestOf(v.rights) + v.optionsDigest() }

// next returns the messages that follow the state from, possibly none, and the state after them. The
// error is an *unknownError if rights must be resolved first. The subscriber's walk, on, may be nil.
func (p *Publisher) next(lens *graph.Lens, from state, on *walk, v viewer) ([]*Frame, state, error) {
	if v.part != nil || v.past != nil || from.pos.Known == 0 && (on == nil || !on.joined.Load()) {
		return p.encode(lens, from, v, catchUpLimit)
	}
	return p.changes.next(p, lens, from, v)
}

// isCurrent reports whether a state is current in all that does not come from the graph.
func (p *Publisher) isCurrent(lens *graph.Lens, s state) bool {
	return s.warned == p.o.Warnings.head() && (s.synced || p.o.State.Now().Phase != Serving) && s.kinds == p.kinds.of(lens, p.o.State.Scope()) &&
		(s.denied == nil || s.denied.generation == p.o.State.Scope().Generation)
}

// encode reads a piece of the graph and encodes it as messages.
func (p *Publisher) encode(lens *graph.Lens, from state, v viewer, limit readLimit) ([]*Frame, state, error) {
	to := from
	// Synced comes before the read: if it is true, the graph that is read is complete.
	synced := p.o.State.Now().Phase == Serving
	set, cleared, warned, ok := p.o.Warnings.since(from.warned)
	if !ok {
		return nil, state{reset: true}, nil
	}
	to.warned = warned

	gate := newGate(v.rights)
	denied := from.denied
	if v.rights != nil {
		// The rights come before the read: changes that a narrowed graph emits count as sent, so
		// all rights must be known by then.
		scope := p.o.State.Scope()
		if from.warned != 0 && from.named != scope.Named {
			return nil, state{reset: true}, nil // it may see other warnings than before
		}
		to.named = scope.Named
		set, cleared = gate.permitted(set, scope.Namespaces), gate.permitted(cleared, scope.Namespaces)
		denied = p.deniedTo(v, gate)
	}
	b, has := p.begin(from, v)
	room := changeRooms.Get().(*[]graph.Change) //nolint:forcetypeassert // New makes nothing else
	defer releaseRoom(room)
	done, err := p.read(lens, &to.pos, v, gate, has, limit, b, room)
	changes := *room
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
	if done && v.part != nil {
		var more, fewer []Warning
		more, fewer, to.absent = absentRoots(v.part, from.absent)
		set, cleared = append(set, more...), append(cleared, fewer...)
	}
	if v.past != nil {
		if changes, err = p.undo(lens, v.past, gate, changes, done); err != nil {
			return nil, from, err
		}
	}
	for i := range changes {
		p.add(b, &changes[i], v.content, from.pos.Known)
	}
	to.reset = false
	if done {
		to.kept = nil
	}
	rev := ""
	tellSynced := done && synced && !from.synced
	if done && (from.pos.Known == 0 || from.pos.Walking() || b.count > 0 || len(b.frames) > 0 || tellSynced) {
		rev = p.o.Run.encode(p.revision(v, to.pos.Known))
	}
	to.synced = from.synced || tellSynced
	if done && v.content == SummaryOnly {
		p.summaries.shrink(lens.Vertices())
	}
	if done {
		to.kinds = p.addKinds(b, lens, v, from.kinds)
	}
	b.warn(set, cleared)
	b.close(rev, tellSynced)
	if b.err != nil {
		p.o.Logger.Error(b.err, "Content left out of a message", "view", p.o.Name)
	}
	if len(b.frames) > 0 {
		p.o.Shared.encodings.Add(1)
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

// releaseRoom returns the room for the changes of a piece, unless it is a large one.
func releaseRoom(room *[]graph.Change) {
	clear(*room)
	if cap(*room) <= keptChanges {
		changeRooms.Put(room)
	}
}

// addKinds adds the kinds of the graph to the open message unless the reader has them already, and returns them.
func (p *Publisher) addKinds(b *frameBuilder, lens *graph.Lens, v viewer, known *kinds) *kinds {
	now := p.kinds.of(lens, p.o.State.Scope())
	if now != known {
		b.kinds = now.text
		if v.part != nil {
			b.kinds = now.ofPart
		}
	}
	return now
}

// undo replaces a piece of the graph by that of the past. The error is an *unknownError or a *ClosedError.
func (p *Publisher) undo(lens *graph.Lens, past *Past, g *gate, changes []graph.Change, done bool) ([]graph.Change, error) {
	past.lens, past.gate, past.whole = lens, g, p.o.State.Scope().Whole
	if past.sent == nil {
		past.sent = make(map[sentArc]bool)
	}
	changes, err := past.undo(changes, done, func(c *graph.Change) string {
		text, _, err := p.summaries.of(c, 0)
		if err != nil {
			p.o.Logger.Error(err, "Content left out of a message", "view", p.o.Name)
		}
		return text
	})
	return changes, cmp.Or(err, g.err())
}

// begin returns the builder for a piece. has reports whether the subscriber keeps a vertex of a graph that is
// reset; it is nil if the subscriber keeps none.
func (p *Publisher) begin(from state, v viewer) (b *frameBuilder, has func(graph.Key) bool) {
	b = newFrameBuilder(from.reset)
	b.large, b.tags = &p.o.Shared.large, v.tags
	if from.kept != nil {
		b.keep, has = from.kept.text, from.kept.has
	}
	return b, has
}

// changeRooms has room for the changes of a piece while they are encoded, at most keptChanges each.
var changeRooms = sync.Pool{New: func() any { return new([]graph.Change) }}

const keptChanges = 1 << 10

// read collects the changes of a piece in room under the graph's lock, and allocates the builder's buffer
// for them.
func (p *Publisher) read(lens *graph.Lens, pos *graph.Position, v viewer, g *gate, has func(graph.Key) bool, limit readLimit, b *frameBuilder, room *[]graph.Change) (bool, error) {
	changes := (*room)[:0]
	size, own := 0, 0 // own leaves out large objects, whose frames are shared
	content := v.content
	how := graph.Reading{Allow: g.allow(), All: content == SummaryOnly, Has: has, Only: v.only, NoWait: !v.waits}
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
	if v.part != nil {
		done, err = v.part.Read(pos, limit.elements, how, g.knowsAll, take)
	} else {
		done, err = lens.Read(pos, limit.elements, how, take)
	}
	b.grow(own)
	*room = changes
	return done, err
}

// add encodes one change, unless a reader at revision known already has the content.
func (p *Publisher) add(b *frameBuilder, c *graph.Change, content Content, known uint64) {
	has, err := p.selectContent(c, content, known)
	if err != nil {
		b.err = err
	}
	if !has {
		b.add(c)
	}
}

// selectContent replaces the object of a vertex by the content that is sent. It reports whether a reader at
// revision known has it.
func (p *Publisher) selectContent(c *graph.Change, content Content, known uint64) (has bool, err error) {
	switch {
	case content == WholeObject:
		return false, nil
	case c.Op == graph.DeleteVertex:
		p.summaries.forget(c.Node)
	case c.Op == graph.SetVertex && content == KeysOnly:
		has = !c.Appeared
		c.Payload, c.Part = nil, nil
	case c.Op == graph.SetVertex:
		if _, made := c.Payload.(summaryText); made {
			return false, nil
		}
		var text string
		text, has, err = p.summaries.of(c, known)
		c.Payload, c.Part = summaryText(text), nil
	}
	return has && err == nil, err
}

// dropShared drops all caches. Close calls it after the last subscriber has left.
func (p *Publisher) dropShared() {
	p.changes.forget()
	p.summaries.clear()
}

// maxArrivals is the maximum number of arrivals that a view keeps.
const maxArrivals = 64

// Arrived records when the first event of revision head was received. The graph's writer calls it
// in the order of revisions, before it publishes.
func (p *Publisher) Arrived(head uint64, at time.Time) {
	p.told.Store(p.waiting.Swap(new(atomic.Int64)))
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

// arrivedAfter returns when the oldest kept change after a revision was received, zero if there is
// none.
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
type kinds struct {
	text []byte
	// ofPart is the text for a part of the graph, which lacks objects.
	ofPart []byte
}

// kindsOf caches the kinds of a view's lens. The pointer changes only if the text does.
type kindsOf struct {
	mu    sync.Mutex
	rev   uint64 // revision of Lens.Uses up to which now is current
	whole bool   // Scope.Whole for which now is current
	now   *kinds
}

// of returns the current kinds, nil if the lens never had any.
func (k *kindsOf) of(lens *graph.Lens, scope Scope) *kinds {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.rev
	if k.whole != scope.Whole {
		k.whole, known = scope.Whole, 0
	}
	used, rev := lens.Uses(known)
	if rev <= known {
		return k.now
	}
	k.rev = rev
	if text := kindsText(used, scope.Whole); k.now == nil || string(text) != string(k.now.text) {
		k.now = &kinds{text, kindsText(used, false)}
	}
	return k.now
}

// kindsText returns the elements of the kinds, which say with whole that the graph has all of their objects.
func kindsText(used []graph.Used, whole bool) []byte {
	used = slices.SortedFunc(slices.Values(used), func(a, b graph.Used) int {
		return cmp.Or(cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource))
	})
	all := make([]streamv1alpha1.ResourceKind, len(used))
	for i, of := range used {
		all[i] = streamv1alpha1.ResourceKind{Group: of.Resource.Group, Version: of.Resource.Version, Resource: of.Resource.Resource, Kind: of.Kind.Kind, All: whole}
	}
	return bytes.Trim(jsonOf(all), "[]")
}
