package stream

import (
	"context"
	"slices"
	"sync"
)

// turns lets one at a time send on a connection, in the order in which they
// came. So whoever has much to send, and comes again after each message, lets
// everybody else through in between.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan struct{}
}

// take waits for the caller's turn, which is to be given back. The error is
// ctx's.
func (t *turns) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 {
		// It came at the same moment.
		t.give()
	}
	return ctx.Err()
}

func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	next := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	close(next)
}
