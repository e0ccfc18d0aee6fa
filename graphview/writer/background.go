package writer

import (
	"sync"
	"time"
)

// chunk is events of the background.
type chunk struct {
	left  []Event // that the writer has not applied
	begun bool
	done  chan struct{} // closed when the graph has all events
}

// chunks is the queue of the background, first in, first out.
type chunks struct {
	kick chan struct{} // there may be some

	mu      sync.Mutex
	waiting []*chunk
}

func newChunks() *chunks { return &chunks{kick: make(chan struct{}, 1)} }

// Background applies events between batches of sent events, and returns when the graph has them.
// It returns at once if events is empty.
func (w *Writer) Background(events []Event) {
	if len(events) == 0 {
		return
	}
	c := &chunk{left: events, done: make(chan struct{})}
	w.chunks.add(c)
	<-c.done
}

func (q *chunks) add(c *chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, c)
	select {
	case q.kick <- struct{}{}:
	default: // the writer looks again anyway
	}
}

// first returns the chunk that has waited longest, nil if there is none.
func (q *chunks) first() *chunk {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	return q.waiting[0]
}

// removeFirst removes the chunk that has waited longest.
func (q *chunks) removeFirst() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
}

// step makes a part of the first chunk one revision. It reports whether there was a chunk.
func (w *Writer) step() bool {
	c := w.chunks.first()
	if c == nil {
		return false
	}
	w.publications.yield() // before the writer takes the lock of the graph again
	if !c.begun {
		c.begun = true
		w.batch++
	}
	w.received = time.Now()
	if c.left = w.revise(c.left, stepVisits); len(c.left) == 0 && !w.graph.HasOpenUpdate() {
		w.chunks.removeFirst()
		close(c.done)
	}
	return true
}
