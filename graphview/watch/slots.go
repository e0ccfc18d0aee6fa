package watch

import (
	"context"
	"sync"
	"time"
)

// slotTimeout is how long a list may keep others waiting. It is far longer than
// a healthy list takes to be read, and bounds what a few that hang cost all
// the others.
const slotTimeout = 5 * time.Second

// slots limits how many lists are read at once, so that a start over hundreds
// of resources neither floods the API server nor holds hundreds of buffers.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// acquire waits for a slot. The slot is given back by release, which may be
// called more than once, or when slotTimeout ends, whichever comes first.
func (s slots) acquire(ctx context.Context) (release func(), err error) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	back := sync.OnceFunc(func() { <-s })
	timer := time.AfterFunc(slotTimeout, back)
	return func() {
		timer.Stop()
		back()
	}, nil
}
