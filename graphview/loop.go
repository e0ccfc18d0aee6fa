package graphview

import (
	"context"
	"time"

	"graphview.dev/graphview/graph"
)

// maxBatch bounds the events of one revision.
const maxBatch = 512

// send hands an event to the loop, which outlives all that send to it.
func (e *Engine) send(ev event) { e.events <- ev }

// doEvent is a function whose caller waits for the revision.
type doEvent struct {
	fn   func()
	done chan struct{}
}

func (ev *doEvent) apply(e *Engine) {
	ev.fn()
	e.finished = append(e.finished, ev.done)
}

// do runs fn in the loop, as part of its next revision, and returns when that revision is
// committed.
func (e *Engine) do(fn func()) {
	ev := &doEvent{fn: fn, done: make(chan struct{})}
	e.send(ev)
	<-ev.done
}

// loop is the graph's one writer. It makes the events that have arrived one revision: at once
// when idle, in batches under load. After each batch, one bounded step of replay work runs.
func (e *Engine) loop(ctx context.Context) {
	batch := make([]event, 0, maxBatch)
	lapse := time.NewTicker(lapseInterval)
	defer lapse.Stop()
	for {
		batch = e.gather(ctx, batch[:0], lapse.C)
		if ctx.Err() != nil {
			return
		}
		if len(batch) > 0 {
			e.received = receivedAt(batch[0])
		}
		e.batches++
		for left := e.revise(batch, maxVisits); len(left) > 0 || e.graph.Unfinished(); {
			left = e.revise(left, maxVisits)
		}
		clear(batch)
		e.step()
	}
}

// maxVisits is the number of elements that a revision looks at before it takes no further
// event: readers wait while it is made. With a hundred views, each event is a decision for
// each of them. A thousand elements take about a third of a millisecond. stepVisits is the
// same bound for a step, which events wait for.
const (
	maxVisits  = 1 << 13
	stepVisits = 1 << 10
)

// revise makes a revision of as many events as may have so many elements to look at, at
// least of one unless the one before has something left to be made, and returns the
// others.
func (e *Engine) revise(batch []event, visits int) (left []event) {
	e.counts.revisions.Add(1)
	began := time.Now()
	changed := e.graph.Update(func() {
		left = batch
		for len(left) > 0 && !e.graph.Unfinished() && (len(left) == len(batch) || e.graph.Visits() < visits) {
			left[0].apply(e)
			left = left[1:]
		}
	})
	e.revisionTime.Observe(time.Since(began).Seconds())
	e.tellExceedances()
	for _, w := range e.graph.Walks() {
		if v := e.byLens[w.Lens]; v != nil {
			v.chargeWalk(e.batches, w.Visits)
		}
	}
	woken := 0
	for _, l := range changed {
		if v := e.byLens[l]; v != nil {
			v.revised()
			woken += v.publisher.Subscribers()
		}
	}
	if woken > 0 {
		e.woke = true
		e.rested = time.Now().Add(pace(int64(woken)))
	}
	for _, done := range e.finished {
		close(done)
	}
	e.finished = e.finished[:0]
	return left
}

// arrived stores when the change of a view was received, before a subscriber is sent it.
func (e *Engine) arrived(l *graph.Lens, head uint64) {
	if v := e.byLens[l]; v != nil {
		v.publisher.Arrived(head, e.received)
	}
}
