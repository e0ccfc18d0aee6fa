package graphview

import (
	"slices"
	"sync"
	"time"
)

// chunk is what the graph is to be told of some objects of a replay.
type chunk struct {
	left []event
	// begun: the loop has made a step of it.
	begun bool
	// wakes: it changes one view, and subscribers are told of that.
	wakes bool
	// done receives when the graph has all of it.
	done chan struct{}
}

// chunks wait for the loop, which makes a revision of a part of one of them, a step, and
// then looks for events. So an event waits for one step, however many replays there are,
// and each replay gets its turn.
type chunks struct {
	kick chan struct{} // there may be some

	mu      sync.Mutex
	waiting []*chunk // those that have waited longest first
}

func newChunks() *chunks { return &chunks{kick: make(chan struct{}, 1)} }

// put adds a chunk that is not empty.
func (q *chunks) put(c *chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, c)
	select {
	case q.kick <- struct{}{}:
	default: // it is kicked already
	}
}

// next is the chunk that has waited longest, nil if there is none. While subscribers rest
// it is one that wakes none.
func (q *chunks) next(rested bool) *chunk {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.waiting, func(c *chunk) bool { return rested || !c.wakes })
	if i < 0 {
		return nil
	}
	return q.waiting[i]
}

// remove takes a chunk out.
func (q *chunks) remove(c *chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, c)
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// wait tells whether there are any.
func (q *chunks) wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0
}

// step makes a revision of a part of a chunk, and tells whether there was one.
func (e *Engine) step(rested bool) bool {
	c := e.chunks.next(rested)
	if c == nil {
		return false
	}
	if !c.begun {
		c.begun = true
		e.batches++
	}
	e.received = time.Now()
	if c.left = e.revise(c.left, stepVisits); len(c.left) == 0 && !e.graph.Unfinished() {
		e.chunks.remove(c)
		c.begun = false
		c.done <- struct{}{}
	}
	return true
}
