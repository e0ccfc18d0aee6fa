package delivery

import (
	"sync/atomic"
	"time"

	"graphview.dev/graphview/graph"
)

// walkJoinable is for how long after a walk began others may begin it too.
const walkJoinable = time.Second

// walk is a way through a whole graph that subscribers go who begin at about the same
// time, as all do after a rollout: each piece is then encoded once. Whoever joins reads
// what changed since the walk began like everybody else on it, since a change moves an
// element to the end.
type walk struct {
	at    graph.Position
	began time.Time
	// joined: more than one has begun it. The pieces of one alone are not kept.
	joined atomic.Bool
}

// walk is the one for a subscriber to begin with.
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

// leave has nobody begin a walk any more, nil for none.
func (c *sharedChanges) leave(w *walk, who viewer) {
	if w != nil {
		c.slot(who.digest()).leave(w)
	}
}

// join is the walk that began lately, or else begins one, which may be nil.
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
