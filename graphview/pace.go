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

// gather adds to a batch what else has arrived and, until the subscribers have
// rested from the last revision, what comes meanwhile. A full batch does not
// wait, nor one that somebody waits for.
func (e *Engine) gather(ctx context.Context, batch []event) []event {
	var rested <-chan time.Time
	urgent := false
	for len(batch) < maxBatch {
		if _, ok := batch[len(batch)-1].(*doEvent); ok {
			urgent = true
		}
		select {
		case ev := <-e.events:
			batch = append(batch, ev)
			continue
		default:
		}
		left := time.Until(e.rested)
		if urgent || left <= 0 {
			break
		}
		if rested == nil {
			timer := time.NewTimer(left)
			defer timer.Stop()
			rested = timer.C
		}
		select {
		case ev := <-e.events:
			batch = append(batch, ev)
		case <-rested:
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}
