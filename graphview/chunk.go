package graphview

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// chunk is the events of some objects of a replay.
type chunk struct {
	// all are the events of the chunk, left those that the loop has not applied.
	left, all []event
	// begun: the loop has applied a part of it.
	begun bool
	// wakes: its view has subscribers, which a revision wakes.
	wakes bool
	// whole: the chunk is one revision, because a view with a depth explores from its roots,
	// and pays for that, in each revision.
	whole bool
	// rest is the minimum time between two wake-ups of the view's subscribers. due is when
	// the next part may be sent.
	rest time.Duration
	due  time.Time
	// done is closed when the graph has all events.
	done chan struct{}
}

// chunks is the queue of replay chunks. The loop makes a part of a chunk that wakes no
// subscriber one revision, a step, and then takes events. So an event waits for at most one
// step, however many replays run, and each replay gets its turn. Parts of chunks that wake
// subscribers join batches of events, for which the subscribers have rested.
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

// next returns the oldest chunk that wakes no subscriber, nil if there is none.
func (q *chunks) next() *chunk {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.waiting, func(c *chunk) bool { return !c.wakes })
	if i < 0 {
		return nil
	}
	return q.waiting[i]
}

// The next event waits for the chunks that join a batch. So a chunk joins in parts that take
// about as long as its subscribers rest, and have at least leastPart events.
const (
	leastPart = 64
	perEvent  = 10 * time.Microsecond
)

// part returns the maximum number of events of the chunk that join a batch.
func (c *chunk) part() int {
	if c.whole {
		return max(maxBatch, len(c.left))
	}
	return max(leastPart, int(c.rest/perEvent))
}

// join adds parts of the chunks that wake subscribers to a batch, until it is full or has as
// many events as one part. A chunk with events left moves to the end of the queue.
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

// wake reports whether a chunk wakes subscribers.
func (q *chunks) wake() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, func(c *chunk) bool { return c.wakes })
}

// overdue reports whether a chunk has waited as long as the subscribers that it wakes rest.
func (q *chunks) overdue() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.waiting, func(c *chunk) bool { return c.wakes && time.Until(c.due) <= 0 })
}

// step makes a part of the oldest chunk that wakes no subscriber one revision. It reports
// whether there was such a chunk.
func (e *Engine) step() bool {
	c := e.chunks.next()
	if c == nil {
		return false
	}
	if e.woke {
		// Let the readers that the last revision woke run before the loop takes the lock again.
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
