package delivery

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

const (
	// maxViewers is the maximum number of viewers for which a view keeps messages.
	maxViewers = 1024
	// maxShared is the maximum size of the messages that a view keeps, in bytes. For one viewer it
	// keeps at most sharedPerReader for each subscriber of the view, but minShared if that is more
	// and there are several subscribers.
	maxShared       = 8 << 20
	sharedPerReader = 32 << 10
	minShared       = 256 << 10
	// maxAhead is the maximum size of the pieces between boundaries that are kept for one viewer. A subscriber that
	// is further behind is sent the net change.
	maxAhead = 128 << 10
	// pieceBytes is the approximate memory of a piece without its messages.
	pieceBytes = 600
)

// errPieceFailed is the error for subscribers that wait for a piece if its encoding panics.
var errPieceFailed = &ClosedError{Reason: reason.Internal, Message: "internal error"}

// piece has the messages that lead from one state of a subscriber to the next.
type piece struct {
	from   state         // its pieceKey
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
// A piece leads from one state to the next. Most lead from the end of another one, a boundary, to the last revision
// of their time. So a subscriber that is some boundaries behind is sent the kept pieces in between, and is at a
// boundary again. One that is further behind is sent pieces of the net change. Subscribers that are
// between the ends of a piece use it too, see graph.Position.Between. So the number of encodings depends on the
// number of boundaries, and not on the number of subscribers.
type sharedChanges struct {
	hold func(use budget.Use, bytes int64) error // PublisherOptions.Hold

	mu    sync.Mutex
	slots map[string]*slot // by digest of viewer
	bytes int              // of all pieces in slots
}

// slot has the pieces of one viewer.
type slot struct {
	digest string // of the viewer

	mu       sync.Mutex
	pieces   map[state]*piece // by from
	order    []*piece         // oldest first
	complete int              // size of the complete ones
	size     int              // of all encoded pieces
	counted  int              // size when keep last returned it

	walk       *walk       // the newest
	comparison *comparison // the newest

	denied *warningSet // the ACCESS_DENIED warnings of the viewer, nil before the first

	bytes int // of pieces and warnings, as in sharedChanges.bytes, guarded by its mu
}

// pieceFrom returns the piece that begins at a state, or a new one, which the caller must encode. Another subscriber
// may still be encoding it. head is the last revision.
func (at *slot) pieceFrom(from state, head uint64) (c *piece, isNew bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	key := from.pieceKey()
	c = at.pieces[key]
	if c != nil && (!c.made || c.follows(from, head)) {
		return c, false
	}
	if c != nil {
		at.forgetLocked(c)
	}
	if at.pieces == nil {
		at.pieces = make(map[state]*piece)
	}
	c = &piece{from: key, done: make(chan struct{})}
	at.pieces[key] = c
	at.order = append(at.order, c)
	return c, true
}

// follow returns the frames of kept pieces that lead on from a state, as many as are written at once, and the
// state after them. head is the last revision.
func (at *slot) follow(from state, head uint64) (frames []*Frame, to state) {
	at.mu.Lock()
	defer at.mu.Unlock()
	to = from
	for bytes := 0; ; {
		c := at.afterLocked(&to, head)
		if c == nil {
			return frames, to
		}
		if bytes += c.size; to != from && bytes > catchUpLimit.bytes {
			return frames, to
		}
		frames, to = append(frames, c.frames...), c.to
	}
}

// afterLocked returns the encoded piece that begins at a state, or the newest piece that covers the state, or nil.
func (at *slot) afterLocked(from *state, head uint64) *piece {
	if c := at.pieces[from.pieceKey()]; c != nil && (!c.made || c.follows(*from, head)) {
		if c.made {
			return c
		}
		return nil
	}
	if from.pos.Known == 0 || from.warned == 0 {
		return nil
	}
	for _, c := range slices.Backward(at.order) {
		switch {
		case !c.made:
		case c.to.pos.Seen() <= from.pos.Read():
			return nil // older pieces end before the state
		case c.covers(from) && c.follows(*from, head):
			return c
		}
	}
	return nil
}

// covers reports whether a subscriber in a state between the ends of the piece may use it.
func (c *piece) covers(from *state) bool {
	if c.from.warned == 0 || from.warned < c.from.warned || from.warned > c.to.warned || !from.pos.Between(&c.from.pos, &c.to.pos) {
		return false
	}
	same := c.from
	same.pos, same.warned = from.pos, from.warned
	return same == *from
}

// complete reports whether the piece ends at a boundary, and not within a change.
func (c *piece) complete() bool { return !c.to.pos.Walking() }

// keep records that a piece was encoded. It drops the piece if other subscribers cannot use it, and it drops the
// oldest complete pieces beyond maxAhead. It also calls trim. It returns the growth of the kept bytes, which
// is negative if they have shrunk.
func (at *slot) keep(c *piece, maxBytes int) (more int) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.pieces[c.from] == c {
		c.made, c.size = true, c.bytes()
		at.size += c.size
		if c.complete() {
			at.complete += c.size
		}
		if c.err != nil || len(c.frames) == 0 && (c.to.pieceKey() == c.from || c.to.reset) {
			at.forgetLocked(c)
		}
	}
	for i := 0; at.complete > maxAhead && i < len(at.order); {
		if old := at.order[i]; old != c && old.made && old.complete() {
			at.forgetLocked(old)
		} else {
			i++
		}
	}
	return at.trimLocked(c, maxBytes)
}

// trim drops the oldest pieces beyond maxBytes, but not the newest one. It returns the same as keep.
func (at *slot) trim(newest *piece, maxBytes int) (more int) {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.trimLocked(newest, maxBytes)
}

func (at *slot) trimLocked(newest *piece, maxBytes int) (more int) {
	for at.size > maxBytes && len(at.order) > 0 && at.order[0] != newest {
		at.forgetLocked(at.order[0])
	}
	more = at.size - at.counted
	at.counted = at.size
	return more
}

func (at *slot) forgetLocked(c *piece) {
	at.size -= c.size
	if c.complete() {
		at.complete -= c.size
	}
	delete(at.pieces, c.from)
	if at.order[0] == c { // the oldest, to make room
		at.order = at.order[1:]
		return
	}
	i := len(at.order) - 1 // a new one that is of no use
	for at.order[i] != c {
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
	if v.awaited == nil {
		if frames, to := at.follow(from, lens.Head()); to != from {
			return frames, to, nil
		}
	}
	next, err := c.encoded(at, p, lens, from, v, maxBytes)
	if err != nil {
		return nil, from, err
	}
	return next.frames, next.to, next.err
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

// encoded returns the piece that begins at a state, and encodes it if that is not done. The only error is
// a *pendingError. A piece that the viewer has waited for is used, although a newer one may be possible by now.
func (c *sharedChanges) encoded(at *slot, p *Publisher, lens *graph.Lens, from state, v viewer, maxBytes int) (*piece, error) {
	for {
		next, first := v.awaited.pieceAt(at, from), false
		if next == nil {
			if next, first = at.pieceFrom(from, lens.Head()); first {
				c.encode(at, p, lens, from, next, v, maxBytes)
			}
		}
		v.awaited = nil
		select {
		case <-next.done:
		default:
			return nil, &pendingError{next, at, from.pieceKey()}
		}
		if !first && v.waits && errors.Is(next.err, graph.ErrCommitting) {
			continue // it failed for a subscriber that does not wait, and is not kept
		}
		if first || next.err != nil || next.to.reset || next.follows(from, 0) {
			return next, nil //nolint:nilerr // the piece has its error
		}
		// Another subscriber read this piece before the piece that led to the state from. Encode
		// a new piece, in rare cases without a turn.
	}
}

// follows reports whether a piece was read no earlier than the piece that led to the state from. A piece of a net
// change also must have been read when at least a quarter of the changes between from and head had been made:
// a later one has fewer elements that change again.
func (c *piece) follows(from state, head uint64) bool {
	return c.to.pos.Seen() >= from.pos.Seen() && (c.complete() || from.pos.Known == 0 || 4*c.to.pos.Seen() >= 3*from.pos.Read()+head)
}

// encode encodes a new piece.
func (c *sharedChanges) encode(at *slot, p *Publisher, lens *graph.Lens, from state, next *piece, v viewer, maxBytes int) {
	defer close(next.done)
	limit := changeLimit
	if from.warned == 0 || from.pos.Known == 0 { // the subscriber has just reconnected
		limit = catchUpLimit
	}
	next.err = errPieceFailed // remains if encode panics, and keep then drops the piece
	defer func() {
		if !c.count(at, at.keep(next, maxBytes)) {
			c.count(at, at.trim(next, 0))
		}
	}()
	next.frames, next.to, next.err = p.encode(lens, from, v, limit)
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

// count adds to the bytes of a slot. It drops other slots if all slots together exceed maxShared, or if the
// owner of the view may hold no more. It reports whether the owner may hold the rest.
func (c *sharedChanges) count(at *slot, bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at.digest] != at {
		return true // the slot was dropped
	}
	at.bytes += bytes
	c.bytes += bytes
	for c.bytes > maxShared && len(c.slots) > 1 {
		c.dropLocked(at.digest)
	}
	for c.holdLocked() != nil {
		if len(c.slots) == 1 {
			return false
		}
		c.dropLocked(at.digest)
	}
	return true
}

// holdLocked charges for the pieces of all slots.
func (c *sharedChanges) holdLocked() error { return c.hold(budget.Messages, int64(c.bytes)) }

// dropLocked drops an arbitrary slot other than that of the digest except.
func (c *sharedChanges) dropLocked(except string) {
	for digest, at := range c.slots {
		if digest != except {
			delete(c.slots, digest)
			c.bytes -= at.bytes
			return
		}
	}
}

// forget drops all pieces.
func (c *sharedChanges) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots, c.bytes = nil, 0
	_ = c.holdLocked() // a smaller number is not refused
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
