package graphview

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// chunk is what the graph is to be told of some objects of a replay.
type chunk struct {
	// left are the events that the loop has yet to take, of all.
	left, all []event
	// begun: the loop has made a step of it.
	begun bool
	// wakes: subscribers are told of what it changes.
	wakes bool
	// whole: it is not cut, since a view may find anew, and pay for, what is within a depth of
	// its roots with each revision.
	whole bool
	// rest is how long these rest, and due when they have since it was put or a part of it
	// was taken, whatever woke them meanwhile.
	rest time.Duration
	due  time.Time
	// done is closed when the graph has all of it.
	done chan struct{}
}

// chunks wait for the loop. Of those that wake nobody it makes a revision of a part of one, a
// step, and then looks for events. So an event waits for one step, however many replays there
// are, and each replay gets its turn. Of those that wake subscribers, parts join batches of
// events, for which subscribers have rested.
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

// next is the chunk that has waited longest of those that wake nobody, nil if there is none.
func (q *chunks) next() *chunk {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.waiting, func(c *chunk) bool { return !c.wakes })
	if i < 0 {
		return nil
	}
	return q.waiting[i]
}

// The next event waits for what joins a batch. So of each chunk there joins a part: what
// takes about as long as its subscribers rest, and no less than leastPart.
const (
	leastPart = 64
	perEvent  = 10 * time.Microsecond
)

// part is how many events of the chunk join a batch at most.
func (c *chunk) part() int {
	if c.whole {
		return max(maxBatch, len(c.left))
	}
	return max(leastPart, int(c.rest/perEvent))
}

// join adds to a batch parts of the chunks that wake subscribers, as long as it is not full
// nor has as much as such a part. A chunk of which something is left comes after the others
// the next time.
func (q *chunks) join(batch []event) []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	joined := 0
	var left []*chunk
	q.waiting = slices.DeleteFunc(q.waiting, func(c *chunk) bool {
		most := c.part()
		if !c.wakes || joined >= min(most, maxBatch) {
			return false
		}
		part := c.left[:min(most, len(c.left))]
		joined += len(part)
		batch = append(batch, part...)
		if c.left = c.left[len(part):]; len(c.left) == 0 {
			batch = append(batch, &doEvent{fn: func() {}, done: c.done})
			return true
		}
		c.due = time.Now().Add(c.rest)
		left = append(left, c)
		return true
	})
	q.waiting = append(q.waiting, left...)
	return batch
}

// remove takes a chunk out.
func (q *chunks) remove(c *chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, c)
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// wake tells whether there are some that wake subscribers.
func (q *chunks) wake() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, func(c *chunk) bool { return c.wakes })
}

// overdue tells whether one that wakes subscribers has waited for as long as they rest.
func (q *chunks) overdue() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, func(c *chunk) bool { return c.wakes && time.Until(c.due) <= 0 })
}

// step makes a revision of a part of a chunk that wakes nobody, and tells whether there was
// one.
func (e *Engine) step() bool {
	c := e.chunks.next()
	if c == nil {
		return false
	}
	if e.woke {
		// Readers whom the revision before has woken come before the lock is taken again.
		e.woke = false
		runtime.Gosched()
	}
	if !c.begun {
		c.begun = true
		e.batches++
	}
	e.received = time.Now()
	if c.left = e.revise(c.left, stepVisits); len(c.left) == 0 && !e.graph.Unfinished() {
		e.chunks.remove(c)
		close(c.done)
	}
	return true
}
