package fairqueue

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"graphview.dev/graphview/budget"
)

// Options of a Queue. A limit of 0 means no limit.
type Options struct {
	// AtOnce is the limit of turns that are held at the same time.
	AtOnce int
	// PerOwner is the limit of turns that one owner holds at the same time.
	PerOwner int
	// PerSecond is the limit of turns that begin in a second. It is also the burst.
	PerSecond int
}

// Queue grants turns to owners in rotation. Make it with [New]. A nil Queue grants every
// turn at once.
type Queue struct {
	o    Options
	rate *rate.Limiter // nil for no rate

	mu     sync.Mutex
	owners map[budget.Owner]*owner // owners that wait for a turn or hold one
	// ready has the owners that wait and may hold another turn, in rotation order.
	ready []*owner
	held  int
	// reserved: a token of the rate is taken, but its turn has not begun. scheduled: a timer
	// is running that calls grant.
	reserved, scheduled bool
}

type owner struct {
	key     budget.Owner
	waiting list.List // of *waiter, sorted by round
	ready   bool      // whether the owner is in Queue.ready
	held    int
}

// waiter is a caller that waits for a turn.
type waiter struct {
	begun chan struct{} // closed when the turn begins
	part  string
	// round is the round of the owner's rotation; each part has one turn in a round.
	round int
}

// Turn is a turn that an owner holds. Releasing the zero Turn does nothing.
type Turn struct {
	queue *Queue
	owner *owner
}

// New returns an empty Queue.
func New(o Options) *Queue {
	q := &Queue{o: o, owners: make(map[budget.Owner]*owner)}
	if o.PerSecond > 0 {
		q.rate = rate.NewLimiter(rate.Limit(o.PerSecond), o.PerSecond)
	}
	return q
}

// Acquire waits for a turn of the owner. The caller must release it. The only error is ctx's.
func (q *Queue) Acquire(ctx context.Context, key budget.Owner) (Turn, error) {
	return q.AcquirePart(ctx, key, "")
}

// AcquirePart is Acquire for a part of an owner, such as one of its connections. The parts of an
// owner take turns. Its cost grows with the number of the owner's callers that wait.
func (q *Queue) AcquirePart(ctx context.Context, key budget.Owner, part string) (Turn, error) {
	if q == nil {
		return Turn{}, nil
	}
	begun := make(chan struct{})
	q.mu.Lock()
	o := q.owners[key]
	if o == nil {
		o = &owner{key: key}
		q.owners[key] = o
	}
	place := insert(&o.waiting, &waiter{begun: begun, part: part})
	q.enqueueLocked(o)
	q.grantLocked()
	q.mu.Unlock()
	select {
	case <-begun:
		return Turn{q, o}, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-begun: // the turn began at the same time
		return Turn{q, o}, nil
	default:
	}
	o.waiting.Remove(place)
	q.dequeueLocked(o)
	return Turn{}, ctx.Err()
}

// Release ends the turn.
func (t Turn) Release() {
	q, o := t.queue, t.owner
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held--
	o.held--
	q.enqueueLocked(o)
	q.dequeueLocked(o)
	q.grantLocked()
}

// Waiting returns the number of callers that wait for a turn.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, o := range q.owners {
		n += o.waiting.Len()
	}
	return n
}

// insert adds a waiter as the last one of its round. The round is the one after the last waiter of
// the same part, or the current round if no caller of the part waits.
func insert(line *list.List, w *waiter) *list.Element {
	if front := line.Front(); front != nil {
		w.round = waiterOf(front).round
	}
	for e := line.Back(); e != nil; e = e.Prev() {
		if waiterOf(e).part == w.part {
			w.round = waiterOf(e).round + 1
			break
		}
	}
	for e := line.Back(); e != nil; e = e.Prev() {
		if waiterOf(e).round <= w.round {
			return line.InsertAfter(w, e)
		}
	}
	return line.PushFront(w)
}

func waiterOf(e *list.Element) *waiter { return e.Value.(*waiter) } //nolint:forcetypeassert // all that the list has

// enqueueLocked appends an owner that waits to the rotation, unless it is in the rotation
// already or holds PerOwner turns.
func (q *Queue) enqueueLocked(o *owner) {
	if o.waiting.Len() > 0 && !o.ready && (q.o.PerOwner == 0 || o.held < q.o.PerOwner) {
		q.ready, o.ready = append(q.ready, o), true
	}
}

// dequeueLocked removes an owner of whose callers none waits from the rotation, and deletes it if it
// holds no turn either.
func (q *Queue) dequeueLocked(o *owner) {
	if o.waiting.Len() > 0 {
		return
	}
	if o.ready {
		i := slices.Index(q.ready, o)
		q.ready, o.ready = slices.Delete(q.ready, i, i+1), false
	}
	if o.held == 0 {
		delete(q.owners, o.key)
	}
}

// grantLocked begins all turns that the limits allow now.
func (q *Queue) grantLocked() {
	for !q.scheduled && (q.o.AtOnce == 0 || q.held < q.o.AtOnce) && len(q.ready) > 0 {
		if q.rate != nil && !q.reserved {
			q.reserved = true
			if wait := q.rate.Reserve().Delay(); wait > 0 {
				q.scheduled = true
				time.AfterFunc(wait, q.grant)
				return
			}
		}
		q.reserved = false
		o := q.ready[0]
		q.ready, o.ready = slices.Delete(q.ready, 0, 1), false
		next := o.waiting.Front()
		o.waiting.Remove(next)
		q.held++
		o.held++
		q.enqueueLocked(o)
		close(waiterOf(next).begun)
	}
}

// grant is called by the timer, when the rate allows another turn.
func (q *Queue) grant() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.scheduled = false
	q.grantLocked()
}
