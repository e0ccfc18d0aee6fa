package delivery

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/graph"
)

const (
	// maxViewers is the maximum number of viewers for which a view keeps messages.
	maxViewers = 1024
	// maxShared is the maximum size of the messages that a view keeps, in bytes. For one viewer it
	// keeps at most sharedPerReader for each subscriber of the view, but minShared if that is more
	// and there are several subscribers.
	maxShared       = 8 << 20
	sharedPerReader = 16 << 10
	minShared       = 256 << 10
	// maxSharedInAll is the maximum for all views together. Beyond it they keep no further messages.
	maxSharedInAll = 128 << 20
	// pieceBytes is the approximate memory of a piece without its messages.
	pieceBytes = 600
	// fullPiece is the size below which a piece is encoded again once the graph has changed.
	fullPiece = 16 << 10
)

// errPieceFailed is the error for subscribers that wait for a piece if its encoding panics.
var errPieceFailed = &ClosedError{Reason: reason.Internal, Message: "internal error"}

// piece has the messages that lead from one state of a subscriber to the next.
type piece struct {
	done   chan struct{} // closed when frames, to and err are set
	frames []*Frame
	to     state
	err    error

	made bool // frames, to and err are set, guarded by slot.mu
	size int  // as counted in slot.size, guarded by slot.mu
}

func (c *piece) bytes() int {
	n := pieceBytes
	for _, f := range c.frames {
		n += len(f.JSON)
	}
	return n
}

// sharedChanges keeps encoded pieces for all subscribers with equal digests.
//
// A piece leads from one state to the next. A slow subscriber uses the pieces that are still kept. If
// no piece begins at its state, it encodes everything up to the current revision. All subscribers
// that do so before the next revision end at the same state and share pieces from there on. A piece
// from the middle of a change is only for subscribers that have read nothing of a newer graph, see
// graph.Position.Seen.
type sharedChanges struct {
	totalBytes *atomic.Int64 // bytes of all views

	mu    sync.Mutex
	slots map[string]*slot // by digest of viewer
	bytes int              // of all pieces in slots
}

// slot has the pieces of one viewer.
type slot struct {
	digest string // of the viewer

	mu      sync.Mutex
	pieces  map[state]*piece
	order   []state // of pieces, oldest first
	size    int     // of all encoded pieces
	counted int     // size when keep last returned it

	walk       *walk       // the newest
	comparison *comparison // the newest

	denied *warningSet // the ACCESS_DENIED warnings of the viewer, nil before the first

	bytes int // of pieces and warnings, as in sharedChanges.bytes, guarded by its mu
}

// piece returns the piece that begins at a state. Another subscriber may still be encoding it. If no
// kept piece is enough, it returns a new one, which the caller must encode.
func (at *slot) piece(from state, enough func(*piece) bool) (c *piece, isNew bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	from = from.pieceKey()
	c = at.pieces[from]
	if c != nil && (!c.made || enough(c)) {
		return c, false
	}
	if c != nil {
		at.forgetLocked(from)
	}
	if at.pieces == nil {
		at.pieces = make(map[state]*piece)
	}
	c = &piece{done: make(chan struct{})}
	at.pieces[from] = c
	at.order = append(at.order, from)
	return c, true
}

// keep records that a piece was encoded. It drops the piece if other subscribers cannot use it, and
// the oldest pieces beyond the limit most, in bytes. It returns the growth of the kept bytes, which is
// negative if they have shrunk.
func (at *slot) keep(from state, c *piece, maxBytes int) (more int) {
	at.mu.Lock()
	defer at.mu.Unlock()
	from = from.pieceKey()
	if at.pieces[from] == c {
		c.made, c.size = true, c.bytes()
		at.size += c.size
		if c.err != nil || len(c.frames) == 0 && (c.to.pieceKey() == from || c.to.reset) {
			at.forgetLocked(from)
		}
	}
	for at.size > maxBytes && len(at.order) > 0 && at.order[0] != from {
		at.forgetLocked(at.order[0])
	}
	more = at.size - at.counted
	at.counted = at.size
	return more
}

func (at *slot) forgetLocked(from state) {
	at.size -= at.pieces[from].size
	delete(at.pieces, from)
	if at.order[0] == from { // the oldest, to make room
		at.order = at.order[1:]
		return
	}
	i := len(at.order) - 1 // a new one that is of no use
	for at.order[i] != from {
		i--
	}
	at.order = slices.Delete(at.order, i, i+1)
}

// next is Publisher.next for a subscriber that may share pieces.
func (c *sharedChanges) next(p *Publisher, lens *graph.Lens, from state, v viewer) ([]*Frame, state, error) {
	at := c.slot(v.digest())
	maxBytes := 0
	if readers := p.Subscribers(); readers > 1 {
		maxBytes = min(maxShared, max(minShared, readers*sharedPerReader))
	}
	next, first, err := c.encoded(at, p, lens, from, v, maxBytes)
	if err != nil {
		return nil, from, err
	}
	if first && from.pos.Known > 0 {
		c.encodeAhead(at, p, lens, next, v, maxBytes)
	}
	return next.frames, next.to, next.err
}

// encodeAhead encodes the pieces after last, up to the current revision or a quarter of the bytes that are
// kept.
func (c *sharedChanges) encodeAhead(at *slot, p *Publisher, lens *graph.Lens, last *piece, v viewer, maxBytes int) {
	for ahead := last.bytes(); ahead < maxBytes/4 && last.err == nil && last.to.pos.Walking() && len(last.frames) > 0; ahead += last.bytes() {
		next, _, err := c.encoded(at, p, lens, last.to, v, maxBytes)
		if err != nil {
			return
		}
		last = next
	}
}

// pendingError is the error for a subscriber whose next piece another one is encoding. The subscriber
// waits until the piece is done, and passes it to encoded.
type pendingError struct {
	piece *piece
	at    *slot
	from  state // that the piece begins at
}

func (e *pendingError) Error() string { return "another subscriber is encoding the piece" }

// pieceAt returns the piece if it begins at a state and is in a slot, else nil.
func (e *pendingError) pieceAt(at *slot, from state) *piece {
	if e == nil || e.at != at || e.from != from.pieceKey() {
		return nil
	}
	return e.piece
}

// encoded returns the piece that begins at a state, and reports whether this call encoded it. The only
// error is a *pendingError. A piece that the viewer has waited for is used, although a newer one may be
// possible by now.
func (c *sharedChanges) encoded(at *slot, p *Publisher, lens *graph.Lens, from state, v viewer, maxBytes int) (next *piece, first bool, err error) {
	for {
		if next, first = v.awaited.pieceAt(at, from), false; next == nil {
			next, first = c.encodedOnce(at, p, lens, from, v, maxBytes)
		}
		v.awaited = nil
		select {
		case <-next.done:
		default:
			return nil, false, &pendingError{next, at, from.pieceKey()}
		}
		if !first && v.waits && errors.Is(next.err, graph.ErrCommitting) {
			continue // it failed for a subscriber that does not wait, and is not kept
		}
		if first || next.err != nil || next.to.reset || next.follows(from) {
			return next, first, nil //nolint:nilerr // the piece has its error
		}
		// Another subscriber read this piece before the piece that led to the state from. Encode
		// a new piece, in rare cases without a turn.
	}
}

// follows reports whether a piece was read no earlier than the piece that led to the state from.
func (c *piece) follows(from state) bool { return c.to.pos.Seen() >= from.pos.Seen() }

// encodedOnce returns a piece that begins at a state, which another subscriber may still be encoding, and
// reports whether this call encoded it.
func (c *sharedChanges) encodedOnce(at *slot, p *Publisher, lens *graph.Lens, from state, v viewer, maxBytes int) (next *piece, first bool) {
	next, first = at.piece(from, func(kept *piece) bool {
		return kept.follows(from) && (kept.to.pos.Walking() || kept.size >= fullPiece || kept.to.pos.Known >= lens.Published())
	})
	if !first {
		return next, false
	}
	defer close(next.done)
	if c.totalBytes.Load() > maxSharedInAll {
		maxBytes = 0
	}
	limit := changeLimit
	if from.warned == 0 || from.pos.Known == 0 { // the subscriber has just reconnected
		limit = catchUpLimit
	}
	next.err = errPieceFailed // remains if encode panics, and keep then drops the piece
	defer func() { c.count(at, at.keep(from, next, maxBytes)) }()
	next.frames, next.to, next.err = p.encode(lens, from, v, limit)
	return next, true
}

// slot returns the slot of a viewer. If there are too many slots, it drops an arbitrary one.
// Subscribers that are using the dropped slot may still do so.
func (c *sharedChanges) slot(digest string) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.slots[digest]
	if at != nil {
		return at
	}
	if c.slots == nil {
		c.slots = make(map[string]*slot)
	}
	if len(c.slots) >= maxViewers {
		c.dropLocked(digest)
	}
	at = &slot{digest: digest}
	c.slots[digest] = at
	return at
}

// count adds to the bytes of a slot, and drops other slots if all slots together exceed maxShared.
func (c *sharedChanges) count(at *slot, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at.digest] != at {
		return // the slot was dropped
	}
	at.bytes += bytes
	c.bytes += bytes
	c.totalBytes.Add(int64(bytes))
	for c.bytes > maxShared && len(c.slots) > 1 {
		c.dropLocked(at.digest)
	}
}

// dropLocked drops an arbitrary slot other than that of the digest but.
func (c *sharedChanges) dropLocked(except string) {
	for digest, at := range c.slots {
		if digest != except {
			delete(c.slots, digest)
			c.bytes -= at.bytes
			c.totalBytes.Add(-int64(at.bytes))
			return
		}
	}
}

// forget drops all pieces.
func (c *sharedChanges) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totalBytes.Add(-int64(c.bytes))
	c.slots, c.bytes = nil, 0
}

// walkJoinable is the time during which other subscribers may join a walk.
const walkJoinable = time.Second

// walk is one full read that several new subscribers share, as after a rollout, so that each piece is
// encoded once. A subscriber that joins late also gets the changes since the walk began, because a
// change moves an element to the end of the log.
type walk struct {
	at    graph.Position
	began time.Time
	// joined: several subscribers share the walk. If only one reads it, its pieces are not kept.
	joined atomic.Bool
}

// walk returns a walk that the subscriber joins, or a new one.
func (c *sharedChanges) walk(lens *graph.Lens, v viewer) (*walk, error) {
	at := c.slot(v.digest())
	if w := at.join(nil); w != nil {
		return w, nil
	}
	began := time.Now()
	pos, err := lens.Beginning(graph.Reading{NoWait: !v.waits})
	if err != nil {
		return nil, err
	}
	return at.join(&walk{at: pos, began: began}), nil
}

// leave keeps further subscribers from joining a walk, which may be nil.
func (c *sharedChanges) leave(w *walk, v viewer) {
	if w != nil {
		c.slot(v.digest()).leave(w)
	}
}

// join returns the newest walk if it can still be joined. Otherwise it stores and returns own.
func (at *slot) join(own *walk) *walk {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.walk != nil && time.Since(at.walk.began) < walkJoinable {
		at.walk.joined.Store(true)
		return at.walk
	}
	at.walk = own
	return own
}

func (at *slot) leave(w *walk) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.walk == w {
		at.walk = nil
	}
}
