package stream

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview"
)

// open is the record of the graphs that are being sent, so that their number is
// bounded and stopping can end and join them.
type open struct {
	max int

	mu      sync.Mutex
	all     map[*opened]struct{}
	more    int // beside one for each of all
	stopped *graphview.ClosedError
	ended   chan struct{}
}

// opened is one graph that is being sent.
type opened struct {
	// ctx is done when sending should end; its cause is a *graphview.ClosedError
	// if the peer is to be told.
	ctx context.Context
	// hard is done when the peer cannot be told any more. It outlives ctx.
	hard context.Context
	end  context.CancelCauseFunc
	kill context.CancelFunc
	home *open
}

func newOpen(limit int) *open {
	return &open{max: limit, all: map[*opened]struct{}{}, ended: make(chan struct{})}
}

// admit records one more, under ctx, or returns a Status. Whoever is admitted
// must leave.
func (o *open) admit(ctx context.Context) (*opened, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped != nil {
		return nil, apierrors.NewServiceUnavailable(o.stopped.Reason)
	}
	if len(o.all)+o.more >= o.max {
		return nil, apierrors.NewTooManyRequests("too many open graphs, try again later", 5)
	}
	one := &opened{home: o}
	one.hard, one.kill = context.WithCancel(ctx)
	one.ctx, one.end = context.WithCancelCause(one.hard)
	o.all[one] = struct{}{}
	return one, nil
}

// another tells whether there is room for one more graph, which shares the
// contexts of those that were admitted. If so it is to be given back.
func (o *open) another() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all)+o.more >= o.max {
		return false
	}
	o.more++
	return true
}

func (o *open) giveBack() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.more--
}

func (one *opened) leave() {
	// Frees what the contexts hold of their parents.
	one.end(context.Canceled)
	one.kill()
	o := one.home
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, one)
	if o.stopped != nil && len(o.all) == 0 {
		close(o.ended)
	}
}

// stop ends all and admits no more. The channel is closed when the last one has
// left. It is called once.
func (o *open) stop(why *graphview.ClosedError) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = why
	for one := range o.all {
		one.end(why)
	}
	if len(o.all) == 0 {
		close(o.ended)
	}
	return o.ended
}

// kill cuts those that have not left.
func (o *open) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for one := range o.all {
		one.kill()
	}
}
