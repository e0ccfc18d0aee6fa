package delivery

import (
	"slices"
	"sync"

	"graphview.dev/graphview/graph"
)

const (
	// maxViewers bounds the kinds of subscribers that messages are kept for.
	maxViewers = 1024
	// maxShared bounds the bytes of the messages that are kept, beside those made last.
	maxShared = 8 << 20
	// maxBehind bounds the positions from which messages are kept, beside those made
	// last, for each kind of subscriber: where a large change goes on after its first
	// piece, and of those who are behind the others.
	maxBehind = 16
)

// delta is the messages that lead from one state of a subscriber to the next.
type delta struct {
	from, to state
	frames   []*Frame
}

func (d *delta) size() int {
	n := 0
	if d == nil {
		return n
	}
	for _, f := range d.frames {
		n += len(f.JSON)
	}
	return n
}

// sharedChanges keeps what is new to subscribers who are sent the same, so that one
// encodes it for all.
type sharedChanges struct {
	mu    sync.Mutex
	slots map[string]*slot // by digest of viewer
	bytes int              // of all deltas in slots
}

// slot is what is kept for one kind of viewer.
type slot struct {
	digest string // of the viewer

	// mu is held while the change after the last one is encoded: the others wait for
	// it and take what was made.
	mu   sync.Mutex
	last *delta

	// behind are the deltas of those who are in the midst of a change, or not as far as
	// last begins, such as subscribers that were cut at the same moment and come back.
	// They wait for each other, and nobody else waits for them.
	behindMu sync.Mutex
	behind   map[state]*behind
	order    []state // of behind, oldest first

	bytes int // of last and behind, guarded by sharedChanges.mu
}

type behind struct {
	once sync.Once
	d    delta
	err  error
	kept int // bytes that were counted, guarded by behindMu
}

// keepBehind keeps what is being encoded from a state. It returns the bytes of what it
// forgets for that.
func (at *slot) keepBehind(from state) (b *behind, forgotten int) {
	at.behindMu.Lock()
	defer at.behindMu.Unlock()
	if b = at.behind[from]; b != nil {
		return b, 0
	}
	if len(at.order) >= maxBehind {
		forgotten = at.forgetLocked(at.order[0])
	}
	if at.behind == nil {
		at.behind = make(map[state]*behind)
	}
	b = &behind{}
	at.behind[from] = b
	at.order = append(at.order, from)
	return b, forgotten
}

// countBehind notes how large what is kept has become. It returns how much that is: 0
// where it was forgotten meanwhile.
func (at *slot) countBehind(from state, b *behind) int {
	at.behindMu.Lock()
	defer at.behindMu.Unlock()
	if at.behind[from] != b {
		return 0
	}
	if len(b.d.frames) == 0 { // nothing that others could do with
		at.forgetLocked(from)
		return 0
	}
	b.kept = b.d.size()
	return b.kept
}

// forgetBehind forgets what is kept, and returns its bytes.
func (at *slot) forgetBehind() (forgotten int) {
	at.behindMu.Lock()
	defer at.behindMu.Unlock()
	for len(at.order) > 0 {
		forgotten += at.forgetLocked(at.order[0])
	}
	return forgotten
}

func (at *slot) forgetLocked(from state) (forgotten int) {
	forgotten = at.behind[from].kept
	delete(at.behind, from)
	i := slices.Index(at.order, from)
	at.order = slices.Delete(at.order, i, i+1)
	return forgotten
}

// next is Publisher.next for a subscriber that has a whole graph.
func (c *sharedChanges) next(p *Publisher, lens *graph.Lens, from state, who viewer) ([]*Frame, state, error) {
	at := c.slot(who.digest())
	if from.warned == 0 || from.pos.Walking() {
		// It has just come back, and is to be sent all warnings; or it has had a piece of
		// a change.
		return c.catchUp(at, p, lens, from, who)
	}
	at.mu.Lock()
	d := at.last
	switch {
	case d == nil:
	case d.from == from && (d.to.pos.Walking() || d.to.pos.Known == lens.Head() && p.lacksNothing(d.to)):
		at.mu.Unlock()
		return d.frames, d.to, nil
	case d.from != from && from.pos.Known < d.to.pos.Known:
		at.mu.Unlock()
		return c.catchUp(at, p, lens, from, who)
	}
	defer at.mu.Unlock()
	frames, to, err := p.encode(lens, from, who, changeLimit)
	if err == nil && to != from {
		more := -at.last.size()
		at.last = &delta{from: from, to: to, frames: frames}
		if more += at.last.size(); !to.pos.Walking() {
			// While one large change follows another, some are still in the midst of the
			// one before.
			more -= at.forgetBehind()
		}
		c.count(at, more)
	}
	return frames, to, err
}

// catchUp encodes for those who are behind the others, or in the midst of a change.
func (c *sharedChanges) catchUp(at *slot, p *Publisher, lens *graph.Lens, from state, who viewer) ([]*Frame, state, error) {
	b, forgotten := at.keepBehind(from)
	if forgotten > 0 {
		c.count(at, -forgotten)
	}
	b.once.Do(func() {
		b.d.frames, b.d.to, b.err = p.encode(lens, from, who, catchUpLimit)
		c.count(at, at.countBehind(from, b))
	})
	return b.d.frames, b.d.to, b.err
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
			return
		}
	}
}

// forget gives up what is kept.
func (c *sharedChanges) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots, c.bytes = nil, 0
}
