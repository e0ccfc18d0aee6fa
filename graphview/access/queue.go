package access

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Queue gives turns at a rate, to one owner after the other. An owner that has
// neither a waiter nor a turn costs nothing.
type Queue struct {
	limit  *rate.Limiter
	atOnce int

	mu     sync.Mutex
	owners map[string]*owner
	// ready are the owners that may have a turn, in the order in which they get it.
	ready []*owner
	// spare: a turn was paid for and nobody has had it yet. due: a timer calls
	// proceed when it may be given.
	spare, due bool
}

type owner struct {
	name    string
	waiting []chan struct{} // closed when its turn has come
	running int             // turns that were not given back
}

// NewQueue gives perSecond turns in a second, and as many at once after a rest.
// An owner has at most atOnce of them.
func NewQueue(perSecond, atOnce int) *Queue {
	return &Queue{limit: rate.NewLimiter(rate.Limit(perSecond), perSecond), atOnce: atOnce, owners: make(map[string]*owner)}
}

// Take waits for the owner's next turn, which must be given back. The error is
// ctx's.
func (q *Queue) Take(ctx context.Context, name string) error {
	turn := make(chan struct{})
	q.mu.Lock()
	o := q.owners[name]
	if o == nil {
		o = &owner{name: name}
		q.owners[name] = o
	}
	o.waiting = append(o.waiting, turn)
	q.enlist(o)
	q.proceedLocked()
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(o.waiting, turn)
	if i < 0 {
		// The turn came together with the end.
		return nil
	}
	o.waiting = slices.Delete(o.waiting, i, i+1)
	q.tidy(o)
	return ctx.Err()
}

// Give gives a turn back.
func (q *Queue) Give(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	o := q.owners[name]
	o.running--
	q.enlist(o)
	q.tidy(o)
	q.proceedLocked()
}

// length is how many wait for a turn.
func (q *Queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, o := range q.owners {
		n += len(o.waiting)
	}
	return n
}

// enlist makes the owner the last of those that may have a turn, if it may have
// one and is not among them.
func (q *Queue) enlist(o *owner) {
	if len(o.waiting) > 0 && o.running < q.atOnce && !slices.Contains(q.ready, o) {
		q.ready = append(q.ready, o)
	}
}

// tidy forgets what an owner that waits no more had.
func (q *Queue) tidy(o *owner) {
	if len(o.waiting) > 0 {
		return
	}
	if i := slices.Index(q.ready, o); i >= 0 {
		q.ready = slices.Delete(q.ready, i, i+1)
	}
	if o.running == 0 {
		delete(q.owners, o.name)
	}
}

// proceed gives the turn that has become due.
func (q *Queue) proceed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due = false
	q.proceedLocked()
}

// proceedLocked gives all turns that the rate allows by now.
func (q *Queue) proceedLocked() {
	for len(q.ready) > 0 && !q.due {
		if !q.spare {
			q.spare = true
			if wait := q.limit.Reserve().Delay(); wait > 0 {
				q.due = true
				time.AfterFunc(wait, q.proceed)
				return
			}
		}
		o := q.ready[0]
		q.ready = slices.Delete(q.ready, 0, 1)
		close(o.waiting[0])
		o.waiting = slices.Delete(o.waiting, 0, 1)
		o.running++
		q.spare = false
		q.enlist(o)
	}
}
