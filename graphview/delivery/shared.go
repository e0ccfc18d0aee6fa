package delivery

import (
	"sync"

	"graphview.dev/graphview/graph"
)

const (
	// maxViewers bounds the kinds of subscribers that messages are kept for.
	maxViewers = 1024
	// maxShared bounds the bytes of the messages that are kept, beside those made last.
	maxShared = 8 << 20
	// maxBehind bounds the positions behind the others from which messages are kept,
	// for each kind of subscriber.
	maxBehind = 16
)

// delta is the messages that lead from one state of a subscriber to the next.
type delta struct {
	from, to state
	frames   []*Frame
}

func (d *delta) size() int {
	n := 0
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

	// behind are the deltas of those who are not as far as last begins, such as
	// subscribers that were cut at the same moment and come back. They wait for each
	// other, and nobody else waits for them.
	behindMu sync.Mutex
	behind   map[state]*behind

	bytes int // of last and behind, guarded by sharedChanges.mu
}

type behind struct {
	once sync.Once
	d    delta
	err  error
}

// next is Publisher.next for a subscriber that has a whole graph.
func (c *sharedChanges) next(p *Publisher, lens *graph.Lens, from state, who viewer) ([]*Frame, state, error) {
	at := c.slot(who.digest())
	if from.warned == 0 {
		// It has just come back, and is to be sent all warnings.
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
		at.last = &delta{from: from, to: to, frames: frames}
		at.behindMu.Lock()
		clear(at.behind)
		at.behindMu.Unlock()
		c.count(at, at.last.size(), true)
	}
	return frames, to, err
}

// catchUp encodes for those who are behind the others.
func (c *sharedChanges) catchUp(at *slot, p *Publisher, lens *graph.Lens, from state, who viewer) ([]*Frame, state, error) {
	at.behindMu.Lock()
	b := at.behind[from]
	if b == nil {
		if len(at.behind) >= maxBehind {
			at.behindMu.Unlock()
			return p.encode(lens, from, who, catchUpLimit)
		}
		if at.behind == nil {
			at.behind = make(map[state]*behind)
		}
		b = &behind{}
		at.behind[from] = b
	}
	at.behindMu.Unlock()
	b.once.Do(func() {
		b.d.frames, b.d.to, b.err = p.encode(lens, from, who, catchUpLimit)
		if b.err == nil && len(b.d.frames) > 0 {
			c.count(at, b.d.size(), false)
			return
		}
		// Nothing that others could do with.
		at.behindMu.Lock()
		defer at.behindMu.Unlock()
		if at.behind[from] == b {
			delete(at.behind, from)
		}
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

// count adds what a slot keeps more, or keeps instead, and drops other slots if that
// is too much in all.
func (c *sharedChanges) count(at *slot, bytes int, instead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at.digest] != at {
		return // it was dropped
	}
	if instead {
		c.bytes -= at.bytes
		at.bytes = 0
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
