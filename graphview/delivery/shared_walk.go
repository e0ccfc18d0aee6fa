package delivery

import (
	"sync/atomic"
	"time"

	"graphview.dev/graphview/graph"
)

// walkJoinable is the time during which other subscribers may join a walk.
const walkJoinable = time.Second

// walk is one full read that several new subscribers share, as after a rollout, so that each piece is
// encoded once. A subscriber that joins late also gets the changes since the walk began, because a
// change moves an element to the end of the log.
type walk struct {
	at    graph.Position
	began time.Time
	// joined: several subscribers share the walk. The pieces of a single one are not kept.
	joined atomic.Bool
}

// walk returns the walk of a new subscriber.
func (c *sharedChanges) walk(lens *graph.Lens, who viewer) (*walk, error) {
	at := c.slot(who.digest())
	if w := at.join(nil); w != nil {
		return w, nil
	}
	began := time.Now()
	pos, err := lens.Beginning(graph.Reading{NoWait: !who.waits})
	if err != nil {
		return nil, err
	}
	return at.join(&walk{at: pos, began: began}), nil
}

// leave makes a walk impossible to join. It may be nil.
func (c *sharedChanges) leave(w *walk, who viewer) {
	if w != nil {
		c.slot(who.digest()).leave(w)
	}
}

// join returns the walk that can be joined, or else begins own, which may be nil.
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
