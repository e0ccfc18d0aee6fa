package delivery

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/graph"
)

const (
	// maxViewers bounds the kinds of subscribers that messages are kept for.
	maxViewers = 1024
	// maxShared bounds the bytes of the messages that are kept for a view, beside those of
	// one kind of its subscribers, which are sharedPerReader for each subscriber of the
	// view, and at least leastShared where there is more than one.
	maxShared       = 8 << 20
	sharedPerReader = 16 << 10
	leastShared     = 256 << 10
	// maxSharedInAll bounds those of all views: beyond it nothing more is kept.
	maxSharedInAll = 128 << 20
	// pieceBytes is about what a piece takes beside its messages.
	pieceBytes = 600
	// fullPiece is the size from which on a piece is not encoded anew because there is
	// more by now.
	fullPiece = 16 << 10
)

// errUnmade is for those who waited for a piece that could not be made.
var errUnmade = &ClosedError{Reason: reason.Internal, Message: "internal error"}

// piece is the messages that lead from one state of a subscriber to the next.
type piece struct {
	done   chan struct{} // closed when the rest is there
	frames []*Frame
	to     state
	err    error

	made bool // the rest is there, guarded by slot.mu
	size int  // that was counted, guarded by slot.mu
}

func (c *piece) bytes() int {
	n := pieceBytes
	for _, f := range c.frames {
		n += len(f.JSON)
	}
	return n
}

// sharedChanges keeps what is new to subscribers who are sent the same, so that one
// encodes it for all.
//
// Subscribers go from state to state on the same pieces. One who is slow finds them
// while they are kept, and encodes nothing. One who comes to where there is no piece
// encodes all up to the graph as it is now, and so ends where everybody does who
// encodes before the graph changes again: those who were apart are together again.
// A piece from the midst of a change is for those alone who have read nothing of a newer
// graph than it was made from, see graph.Position.Seen.
type sharedChanges struct {
	inAll *atomic.Int64 // bytes of all views

	mu    sync.Mutex
	slots map[string]*slot // by digest of viewer
	bytes int              // of all pieces in slots
}

// slot is what is kept for one kind of viewer.
type slot struct {
	digest string // of the viewer

	mu     sync.Mutex
	pieces map[state]*piece
	order  []state // of pieces, oldest first
	size   int     // of all that were counted
	told   int     // what size was when sharedChanges was told

	walk *walk // the last that began here

	denied *warningSet // the ACCESS_DENIED warnings of the viewer, nil before the first

	bytes int // of pieces and warnings, as sharedChanges knows it, guarded by its mu
}

// piece is the one that leads on from a state, which may still be encoded. It is new
// where none is kept, or none of which enough says that it will do.
func (at *slot) piece(from state, enough func(*piece) bool) (c *piece, isNew bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	from = from.place()
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

// keep notes that a piece has been encoded, and forgets the oldest ones beyond a number
// of bytes; also itself, where others could do nothing with it. It returns how much more
// is kept than it returned before, which may be negative: a piece that was encoded anew
// has gone meanwhile.
func (at *slot) keep(from state, c *piece, most int) (more int) {
	at.mu.Lock()
	defer at.mu.Unlock()
	from = from.place()
	if at.pieces[from] == c {
		c.made, c.size = true, c.bytes()
		at.size += c.size
		if c.err != nil || len(c.frames) == 0 && (c.to.place() == from || c.to.reset) {
			at.forgetLocked(from)
		}
	}
	for at.size > most && len(at.order) > 0 && at.order[0] != from {
		at.forgetLocked(at.order[0])
	}
	more = at.size - at.told
	at.told = at.size
	return more
}

func (at *slot) forgetLocked(from state) {
	at.size -= at.pieces[from].size
	delete(at.pieces, from)
	if at.order[0] == from { // the oldest makes room
		at.order = at.order[1:]
		return
	}
	i := len(at.order) - 1 // or the newest is of no use
	for at.order[i] != from {
		i--
	}
	at.order = slices.Delete(at.order, i, i+1)
}

// next is Publisher.next for a subscriber that others are sent the same as.
func (c *sharedChanges) next(p *Publisher, lens *graph.Lens, from state, who viewer) ([]*Frame, state, error) {
	at := c.slot(who.digest())
	most := 0
	if readers := p.Subscribers(); readers > 1 {
		most = min(maxShared, max(leastShared, readers*sharedPerReader))
	}
	next, first := c.encoded(at, p, lens, from, who, most)
	if first && from.pos.Known > 0 {
		c.goOn(at, p, lens, next, who, most)
	}
	return next.frames, next.to, next.err
}

// goOn encodes the pieces after one, up to the graph as it is now, as long as they are
// kept until somebody asks for them.
func (c *sharedChanges) goOn(at *slot, p *Publisher, lens *graph.Lens, last *piece, who viewer, most int) {
	for ahead := last.bytes(); ahead < most/4 && last.err == nil && last.to.pos.Walking() && len(last.frames) > 0; ahead += last.bytes() {
		last, _ = c.encoded(at, p, lens, last.to, who, most)
	}
}

// encoded is the piece that leads on from a state. It tells whether it had to be encoded.
func (c *sharedChanges) encoded(at *slot, p *Publisher, lens *graph.Lens, from state, who viewer, most int) (next *piece, first bool) {
	for {
		next, first = c.encodedOnce(at, p, lens, from, who, most)
		if !first && who.waits && errors.Is(next.err, graph.ErrAside) {
			continue // it was under way for somebody who does not wait, and is not kept
		}
		if first || next.err != nil || next.to.reset || next.follows(from) {
			return next, first
		}
		// It was under way when somebody asked for it, and was read before what led here.
	}
}

// follows tells whether a piece was read no earlier than what led a subscriber to where
// it begins.
func (c *piece) follows(from state) bool { return c.to.pos.Seen() >= from.pos.Seen() }

func (c *sharedChanges) encodedOnce(at *slot, p *Publisher, lens *graph.Lens, from state, who viewer, most int) (next *piece, first bool) {
	next, first = at.piece(from, func(kept *piece) bool {
		return kept.follows(from) && (kept.to.pos.Walking() || kept.size >= fullPiece || kept.to.pos.Known >= lens.Published())
	})
	if !first {
		// The subscriber that encodes it has a turn of its own, if it needs one.
		if who.endTurn != nil {
			who.endTurn()
		}
		<-next.done
		return next, false
	}
	defer close(next.done)
	if c.inAll.Load() > maxSharedInAll {
		most = 0
	}
	limit := changeLimit
	if from.warned == 0 || from.pos.Known == 0 { // it has just come back
		limit = catchUpLimit
	}
	next.err = errUnmade // stays, and the piece is not kept, if encode panics
	defer func() { c.count(at, at.keep(from, next, most)) }()
	next.frames, next.to, next.err = p.encode(lens, from, who, limit)
	return next, true
}

// slot returns the slot of a kind of viewer. Where there are too many, any other
// goes: whoever uses it at the moment keeps it to the end.
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

// count adds what a slot keeps more, or less, and drops other slots if that is too
// much in all.
func (c *sharedChanges) count(at *slot, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at.digest] != at {
		return // it was dropped
	}
	at.bytes += bytes
	c.bytes += bytes
	c.inAll.Add(int64(bytes))
	for c.bytes > maxShared && len(c.slots) > 1 {
		c.dropLocked(at.digest)
	}
}

// dropLocked drops any slot but one.
func (c *sharedChanges) dropLocked(but string) {
	for digest, at := range c.slots {
		if digest != but {
			delete(c.slots, digest)
			c.bytes -= at.bytes
			c.inAll.Add(-int64(at.bytes))
			return
		}
	}
}

// forget gives up what is kept.
func (c *sharedChanges) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inAll.Add(-int64(c.bytes))
	c.slots, c.bytes = nil, 0
}
