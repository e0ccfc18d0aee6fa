package graphview

import (
	"context"
	"time"
)

// A revision wakes every subscriber of the views that it changes, and each subscriber writes
// a message. Subscribers that fall behind end at different positions and cannot share an
// encoding. So revisions under load are apart by the cost of a wake-up and a write, times
// the number of subscribers.
const (
	perSubscriber = 55 * time.Microsecond
	maxPace       = 55 * time.Millisecond
)

// pace returns the time between revisions while events keep coming.
func pace(subscribers int64) time.Duration {
	return min(time.Duration(subscribers)*perSubscriber, maxPace)
}

// gather returns the events of the next revision. The batch is empty if the graph has cleanup
// to do. Until the subscribers have rested from the last revision, gather adds the events
// that arrive, and then the replay chunks that wake subscribers. A full batch, or one with a
// doEvent, is returned at once. Overdue replay chunks are added to it; otherwise a steady
// stream of such batches would starve them. Without events, gather runs steps of the replay
// chunks that wake no subscriber.
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

// lapsed returns an event that checks for objects that have been progressing for too long.
func (e *Engine) lapsed(now time.Time) event {
	return funcEvent(func() { e.graph.Lapse(now.Unix()) })
}
