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

// Options of a Queue. A zero limit is none.
type Options struct {
	// AtOnce is how many turns are held at the same time.
	AtOnce int
	// PerOwner is how many of them one owner holds.
	PerOwner int
	// PerSecond is how many turns begin in a second, and at once after a rest.
	PerSecond int
}

// Class is how urgent a turn is.
type Class uint8

const (
	// Interactive turns are for work that a user or a change of an object waits for.
	Interactive Class = iota
	// Background turns refresh what is known.
	Background

	classes = iota
)

// backgroundEvery: one in so many turns is a Background turn, if both classes wait.
const backgroundEvery = 4

// Queue gives turns to owners in rotation. The zero value is not usable: see [New]. A
// nil Queue gives every turn at once.
type Queue struct {
	o    Options
	rate *rate.Limiter // nil for no rate

	mu     sync.Mutex
	owners map[budget.Owner]*owner // those that wait or hold a turn
	// ready has, by class, the owners that may have a turn, in the order of their turns.
	ready [classes][]*owner
	held  int
	// interactive counts turns since the background had one.
	interactive int
	// reserved: the rate has granted a turn that no owner has had yet. scheduled: a timer
	// is going to grant one.
	reserved, scheduled bool
}

type owner struct {
	key     budget.Owner
	waiting [classes]list.List // of *waiter, by round
	ready   [classes]bool      // whether the owner is in Queue.ready
	held    int
}

// waiter is a caller that waits for a turn.
type waiter struct {
	begun chan struct{} // closed when the turn begins
	part  string
	// round: a part of the owner has one turn in each round.
	round int
}

// Turn is a turn that an owner holds. The zero Turn holds nothing.
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

// Acquire waits for the owner's next turn, which must be released. The error is ctx's.
func (q *Queue) Acquire(ctx context.Context, key budget.Owner, class Class) (Turn, error) {
	return q.AcquirePart(ctx, key, "", class)
}

// AcquirePart is Acquire for a part of an owner, such as one of its connections. The parts of an
// owner take turns among themselves. It takes time for each caller of the owner that waits.
func (q *Queue) AcquirePart(ctx context.Context, key budget.Owner, part string, class Class) (Turn, error) {
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
	place := insert(&o.waiting[class], &waiter{begun: begun, part: part})
	q.enlistLocked(o)
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
	case <-begun: // just now
		return Turn{q, o}, nil
	default:
	}
	o.waiting[class].Remove(place)
	q.forgetLocked(o)
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
	q.enlistLocked(o)
	q.forgetLocked(o)
	q.grantLocked()
}

// Waiting returns the number of callers that wait for a turn.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, o := range q.owners {
		for class := range o.waiting {
			n += o.waiting[class].Len()
		}
	}
	return n
}

// insert puts a waiter behind those of its round: the one after that of the last waiter of its part,
// or else the current one.
func insert(line *list.List, w *waiter) *list.Element {
	if front := line.Front(); front != nil {
		w.round = of(front).round
	}
	for e := line.Back(); e != nil; e = e.Prev() {
		if of(e).part == w.part {
			w.round = of(e).round + 1
			break
		}
	}
	for e := line.Back(); e != nil; e = e.Prev() {
		if of(e).round <= w.round {
			return line.InsertAfter(w, e)
		}
	}
	return line.PushFront(w)
}

func of(e *list.Element) *waiter { return e.Value.(*waiter) } //nolint:forcetypeassert // all that the list has

// enlistLocked makes an owner that waits the last one in rotation, unless it is there
// already or holds all that it may.
func (q *Queue) enlistLocked(o *owner) {
	if q.o.PerOwner > 0 && o.held >= q.o.PerOwner {
		return
	}
	for class := range o.waiting {
		if o.waiting[class].Len() > 0 && !o.ready[class] {
			q.ready[class], o.ready[class] = append(q.ready[class], o), true
		}
	}
}

// forgetLocked takes an owner out of rotation where it waits no more, and forgets one
// that holds no turn either.
func (q *Queue) forgetLocked(o *owner) {
	waits := false
	for class := range o.waiting {
		waits = waits || o.waiting[class].Len() > 0
		if o.ready[class] && o.waiting[class].Len() == 0 {
			i := slices.Index(q.ready[class], o)
			q.ready[class], o.ready[class] = slices.Delete(q.ready[class], i, i+1), false
		}
	}
	if !waits && o.held == 0 {
		delete(q.owners, o.key)
	}
}

// nextLocked takes the owner of the next turn out of the rotation; nil for none.
func (q *Queue) nextLocked() (o *owner, class Class) {
	for len(q.ready[Interactive])+len(q.ready[Background]) > 0 {
		class = Interactive
		if len(q.ready[Interactive]) == 0 || len(q.ready[Background]) > 0 && q.interactive >= backgroundEvery-1 {
			class = Background
		}
		o = q.ready[class][0]
		q.ready[class], o.ready[class] = slices.Delete(q.ready[class], 0, 1), false
		if q.o.PerOwner == 0 || o.held < q.o.PerOwner { // by turns of the other class
			return o, class
		}
	}
	return nil, class
}

// grantLocked begins all turns that may begin now.
func (q *Queue) grantLocked() {
	for !q.scheduled && (q.o.AtOnce == 0 || q.held < q.o.AtOnce) && len(q.ready[Interactive])+len(q.ready[Background]) > 0 {
		if q.rate != nil && !q.reserved {
			q.reserved = true
			if wait := q.rate.Reserve().Delay(); wait > 0 {
				q.scheduled = true
				time.AfterFunc(wait, q.grant)
				return
			}
		}
		o, class := q.nextLocked()
		if o == nil {
			return
		}
		q.reserved = false
		if q.interactive++; class == Background {
			q.interactive = 0
		}
		next := o.waiting[class].Front()
		o.waiting[class].Remove(next)
		q.held++
		o.held++
		q.enlistLocked(o)
		close(of(next).begun)
	}
}

// grant begins the turn that the rate allows by now.
func (q *Queue) grant() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.scheduled = false
	q.grantLocked()
}
