package graphview

import (
	"context"
	"time"
)

// Every revision wakes every subscriber of the views that it changes, and each
// writes a message. So that they do not fall behind, each at a place of its own
// where nobody shares an encoding with it, revisions under load are as far apart
// as their subscribers need: what a wake-up and a write cost, times their number.
const (
	perSubscriber = 55 * time.Microsecond
	maxPace       = 55 * time.Millisecond
)

// pace is how far apart revisions are while there are always more events.
func pace(subscribers int64) time.Duration {
	return min(time.Duration(subscribers)*perSubscriber, maxPace)
}

// gather waits until there is something to do, and returns the batch of events that are
// one revision, none where the graph has something left to do. Until the subscribers have
// rested from the last revision, it adds to the batch what comes meanwhile, and then what is
// shown again and wakes them. A full batch does not wait, nor one that somebody waits for:
// what is shown again comes with that too once it is overdue, as there may always be such a
// batch and each puts the rest off.
// While there is no event to be made a revision, it makes steps of what is shown again and
// wakes nobody.
func (e *Engine) gather(ctx context.Context, batch []event, lapse <-chan time.Time) []event {
	var timer *time.Timer
	urgent := false
	due := e.rested // of the first event: no later revision puts it off
	select {
	case now := <-lapse: // where there are always events, nothing below gets to it
		batch = append(batch, e.lapsed(now))
	default:
	}
	for len(batch) < maxBatch {
		if n := len(batch); n > 0 {
			_, waits := batch[n-1].(*doEvent)
			urgent = urgent || waits
		}
		select {
		case ev := <-e.events:
			batch = append(batch, ev)
			continue
		default:
		}
		if len(batch) == 0 {
			due = e.rested
		}
		left := time.Until(due)
		switch {
		case urgent && left > 0 && !e.chunks.overdue(), len(batch) == 0 && e.graph.Pending():
			return batch
		case urgent, left <= 0 && (len(batch) > 0 || e.chunks.wake()):
			return e.chunks.join(batch)
		case e.step():
			continue
		}
		var rested <-chan time.Time
		if left > 0 && (len(batch) > 0 || e.chunks.wake()) {
			if timer == nil {
				timer = time.NewTimer(left)
				defer timer.Stop()
			} else {
				timer.Reset(left)
			}
			rested = timer.C
		}
		select {
		case ev := <-e.events:
			batch = append(batch, ev)
		case <-e.chunks.kick:
		case now := <-lapse:
			batch = append(batch, e.lapsed(now))
		case <-rested:
		case <-ctx.Done():
			return batch
		}
	}
	return e.chunks.join(batch)
}

// lapsed has the graph look for what has been progressing for too long.
func (e *Engine) lapsed(now time.Time) event {
	return funcEvent(func() { e.graph.Lapse(now.Unix()) })
}
