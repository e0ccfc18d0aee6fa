package delivery

import (
	"errors"
	"sync"
	"sync/atomic"

	"graphview.dev/graphview/graph"
)

// readLimit bounds what one read covers: the log elements, and so how long it holds
// the graph's lock; and the bytes, but for the element that exceeds them, and so
// what is held for a subscriber that does not read.
type readLimit struct{ elements, bytes int }

var (
	// catchUpLimit is that of a subscriber that catches up, most of the time by itself.
	// A piece, the element that exceeds its limit, if that is not large, and a record of
	// TLS are what is held for a subscriber that does not read: 64 KiB.
	catchUpLimit = readLimit{elements: 256, bytes: 32 << 10}
	// changeLimit is that of a change, which is encoded once for all: of as many
	// elements as nobody need hold for long, and of no more bytes, since each subscriber
	// may stop at another change.
	changeLimit = readLimit{elements: 4096, bytes: catchUpLimit.bytes}
)

// Publisher turns what a view's lens shows into messages.
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

// NewPublisher makes the Publisher of a view that has no lens yet.
func NewPublisher(source Source) *Publisher {
	return &Publisher{source: source, changes: sharedChanges{inAll: &source.Shared.kept}}
}

// SetLens gives the view its lens. It is called once.
func (p *Publisher) SetLens(l *graph.Lens) { p.lens.Store(l) }

// Lens is nil before SetLens.
func (p *Publisher) Lens() *graph.Lens { return p.lens.Load() }

// Subscribers is how many there are.
func (p *Publisher) Subscribers() int { return int(p.subscribers.Load()) }

// state is all that a subscriber's next messages depend on, beside its rights and
// what it wants of an object.
type state struct {
	pos    graph.Position
	warned uint64      // number of the last warning it was sent
	synced bool        // it was told that the view is synced
	reset  bool        // it has yet to be told to forget everything
	denied *warningSet // whose warnings it was sent
	absent *warningSet // of roots, likewise
	kinds  *kinds      // that it was told
}

// place is the state of whoever lacks the same, whatever revision it has seen.
func (s state) place() state {
	s.pos = s.pos.Place()
	return s
}

// viewer is who is sent something: subscribers of equal viewers are sent the same.
type viewer struct {
	rights          Rights
	content         Content
	excludeInferred bool
	narrow          string          // the mark of what the viewer narrows the graph to, "" for all of it
	part            *graph.Narrowed // that part of the graph
	waits           bool            // for the end of a commit aside; it is sent the same
	endTurn         func()          // ends its turn, and may be called again; nil: it has none
}

// wants tells viewers with the same rights apart.
func (v viewer) wants() string {
	wants := v.content.mark()
	if v.excludeInferred {
		wants += "\x00declared"
	}
	return wants + v.narrow
}

func (v viewer) digest() string { return digestOf(v.rights) + v.wants() }

// next returns the messages that follow from a state, and the state after them.
// There may be none. An unknownError says which rights have to be known first. On is the
// walk that the state is of, nil for none.
func (p *Publisher) next(lens *graph.Lens, from state, on *walk, who viewer) ([]*Frame, state, error) {
	if who.part != nil || from.pos.Known == 0 && (on == nil || !on.joined.Load()) {
		return p.encode(lens, from, who, catchUpLimit)
	}
	return p.changes.next(p, lens, from, who)
}

// lacksNothing tells whether a state lacks nothing but changes of the graph.
func (p *Publisher) lacksNothing(lens *graph.Lens, s state) bool {
	return s.warned == p.source.Warnings.head() && (s.synced || !p.source.Synced()) && s.kinds == p.kinds.of(lens) &&
		(s.denied == nil || s.denied.generation == p.source.Scope().Generation)
}

// encode reads a piece and writes it as messages.
func (p *Publisher) encode(lens *graph.Lens, from state, who viewer, limit readLimit) ([]*Frame, state, error) {
	to := from
	// Read before the graph is: what is synced is in it.
	synced := p.source.Synced()
	set, cleared, warned, ok := p.source.Warnings.since(from.warned)
	if !ok {
		return nil, state{reset: true}, nil
	}
	to.warned = warned

	gate := newGate(who.rights)
	denied := from.denied
	if who.rights != nil {
		// Before the read: what a narrowed graph has emitted counts as sent, so no right may
		// turn out to be unknown afterwards.
		named := p.source.Scope().Namespaces
		set, cleared = gate.permitted(set, named), gate.permitted(cleared, named)
		denied = p.deniedTo(who, gate)
	}
	b := newFrameBuilder(from.reset)
	b.large = &p.source.Shared.large
	changes, done, err := p.read(lens, &to.pos, who, gate, limit, b)
	switch {
	case errors.Is(err, graph.ErrGone):
		return nil, state{reset: true}, nil
	case errors.Is(err, graph.ErrAside):
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
			p.source.Shared.recall.note(who)
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

// read collects the changes of a piece, and gives the builder room for them. The
// graph is locked meanwhile.
func (p *Publisher) read(lens *graph.Lens, pos *graph.Position, who viewer, g *gate, limit readLimit, b *frameBuilder) ([]graph.Change, bool, error) {
	var changes []graph.Change
	size, own := 0, 0 // own is without what others share
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

// add writes one change for a reader of a revision, if it is one for it.
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

// begin is the state of a subscriber that continues after a revision. The error is an
// *unknownError where that depends on rights that are not known yet.
func (p *Publisher) begin(since string, who viewer) (state, error) {
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
		return state{reset: true}, p.source.Shared.recall.missing(r.rights, who)
	}
}

// forget gives up what is kept for subscribers, of whom there is none.
func (p *Publisher) forget() {
	p.changes.forget()
	p.summaries.clear()
}
