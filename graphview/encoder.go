package graphview

import (
	"sync"

	"graphview.dev/graphview/graph"
)

// piece bounds what one read covers: the log elements, and so how long it holds
// the graph's lock; and the bytes, but for the element that exceeds them, and so
// what is held for a subscriber that does not read.
type piece struct{ elements, bytes int }

var (
	// catchingUp is the piece of a subscriber that nobody need be beside. With the
	// element that exceeds it, if that is not large, and a record of TLS it is what is
	// held for a subscriber that does not read: 64 KiB.
	catchingUp = piece{elements: 256, bytes: 32 << 10}
	// shareable is that of a change, which is encoded once for all.
	shareable = piece{elements: 4096, bytes: MaxFrameBytes - frameRoom}
)

const (
	// maxDigests and maxShared, in bytes, bound the messages that are kept for
	// sharing, beside those made last.
	maxDigests = 64
	maxShared  = 8 << 20
)

// encoder turns what a view's lens shows into messages. What is new to those
// who are up to date is encoded once for all who have the same rights.
type encoder struct {
	view *View

	mu     sync.Mutex
	lens   *graph.Lens
	latest map[string]*delta // by digest of rights
	shared int               // bytes in latest

	deniedMu sync.Mutex
	denied   map[string]*denial // by digest of rights
}

// delta is the messages that lead from one state of a subscriber to the next.
type delta struct {
	from, to state
	frames   []*Frame
}

// state is all that a subscriber's next messages depend on, beside its rights.
type state struct {
	pos    graph.Position
	warned uint64 // number of the last warning it was told
	synced bool   // it was told that the view is synced
	reset  bool   // it has yet to be told to forget everything
	denied string // ids of the ACCESS_DENIED warnings it was told
}

func newEncoder(v *View) *encoder {
	return &encoder{view: v, latest: make(map[string]*delta), denied: make(map[string]*denial)}
}

func (e *encoder) setLens(l *graph.Lens) {
	e.mu.Lock()
	e.lens = l
	e.mu.Unlock()
	e.view.announceNews()
}

// lensNow is nil until the view's goroutine has begun.
func (e *encoder) lensNow() *graph.Lens {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lens
}

// next returns the messages that follow from a state, and the state after them.
// There may be none. An unknownError says which rights have to be known first.
func (e *encoder) next(lens *graph.Lens, from state, rights Rights) ([]*Frame, state, error) {
	if from.pos.Known == 0 || from.reset || from.pos.Walking() {
		return e.encode(lens, from, rights, catchingUp)
	}
	// One encodes, the others wait for it and take what it made.
	e.mu.Lock()
	defer e.mu.Unlock()
	digest := digestOf(rights)
	if d := e.latest[digest]; d != nil && d.from == from && (d.to.pos.Walking() || d.to.pos.Known == lens.Head() && e.current(d.to)) {
		return d.frames, d.to, nil
	}
	frames, to, err := e.encode(lens, from, rights, shareable)
	if err == nil && len(frames) > 0 {
		e.share(digest, &delta{from: from, to: to, frames: frames})
	}
	return frames, to, err
}

// share keeps messages for others with the same rights.
func (e *encoder) share(digest string, d *delta) {
	if old := e.latest[digest]; old != nil {
		e.shared -= old.size()
	}
	if _, ok := e.latest[digest]; !ok && len(e.latest) >= maxDigests || e.shared+d.size() > maxShared {
		clear(e.latest)
		e.shared = 0
	}
	e.latest[digest] = d
	e.shared += d.size()
}

func (d *delta) size() int {
	n := 0
	for _, f := range d.frames {
		n += len(f.JSON)
	}
	return n
}

// forget gives up what is kept for sharing.
func (e *encoder) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.latest)
	e.shared = 0
}

// current tells whether a state lacks nothing but changes of the graph.
func (e *encoder) current(s state) bool {
	return s.warned == e.view.warnings.head() && s.synced == (s.synced || e.view.synced.Load())
}

// encode reads a piece and writes it as messages.
func (e *encoder) encode(lens *graph.Lens, from state, rights Rights, limit piece) ([]*Frame, state, error) {
	to := from
	// Read before the graph is: what is synced is in it.
	synced := e.view.synced.Load()
	set, cleared, warned, ok := e.view.warnings.since(from.warned)
	if !ok {
		return nil, state{reset: true}, nil
	}
	to.warned = warned

	gate := newGate(rights)
	var changes []graph.Change
	size, own := 0, 0 // own is without what others share
	done, err := lens.Read(&to.pos, limit.elements, gate.allow(), func(c graph.Change) bool {
		changes = append(changes, c)
		n := sizeOf(&c)
		size += n
		if _, large := largeKeyOf(&c); !large || limit != catchingUp {
			own += n
		}
		return size < limit.bytes
	})
	if err != nil {
		return nil, state{reset: true}, nil
	}
	if rights != nil {
		named := e.view.namedNamespaces()
		set, cleared = gate.permitted(set, named), gate.permitted(cleared, named)
	}
	if done && rights != nil {
		var told, taken []warning
		told, taken, to.denied = e.denials(lens, gate, from.denied)
		set, cleared = append(set, told...), append(cleared, taken...)
	}
	if err := gate.err(); err != nil {
		return nil, from, err
	}
	b := newFrameBuilder(from.reset, own)
	if limit == catchingUp {
		b.large = &e.view.engine.large
	}
	for i := range changes {
		b.add(&changes[i])
	}
	to.reset = false
	rev := ""
	tellSynced := done && synced && !from.synced
	if done && (from.pos.Known == 0 || from.pos.Walking() || b.count > 0 || len(b.frames) > 0 || tellSynced) {
		rev = revision{run: e.view.engine.run, view: short(e.view.uid), rights: short(digestOf(rights)), known: to.pos.Known}.String()
	}
	to.synced = from.synced || tellSynced
	b.close(rev, tellSynced, set, cleared)
	if b.err != nil {
		e.view.engine.o.Logger.Error(b.err, "Content left out of a message", "view", e.view.name.String())
	}
	if len(b.frames) > 0 {
		e.view.engine.counts.encodings.Add(1)
	}
	if limit == shareable {
		received := e.view.engine.counts.lastReceived()
		for _, f := range b.frames {
			f.Received = received
		}
	}
	return b.frames, to, nil
}

// begin is the state of a subscriber that continues after a revision.
func (e *encoder) begin(since string, rights Rights) state {
	if since == "" {
		return state{}
	}
	r, ok := parseRevision(since)
	if !ok || r.run != e.view.engine.run || r.view != short(e.view.uid) || r.rights != short(digestOf(rights)) {
		return state{reset: true}
	}
	return state{pos: graph.Position{Known: r.known}}
}

func digestOf(r Rights) string {
	if r == nil {
		return ""
	}
	return r.Digest()
}
