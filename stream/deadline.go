package stream

import (
	"context"
	"time"
)

// deadline makes contexts that end after a time, or up to a slack sooner: one is
// used until the slack is used up, so that a busy stream does not make one for each
// message.
type deadline struct {
	time, slack time.Duration

	ctx    context.Context
	cancel context.CancelFunc
	until  time.Time
}

// under returns a context under the parent, which is always the same. Stop is
// called in the end.
func (d *deadline) under(parent context.Context) context.Context {
	if d.ctx == nil || d.ctx.Err() != nil || time.Until(d.until) < d.time-d.slack {
		d.stop()
		d.until = time.Now().Add(d.time)
		d.ctx, d.cancel = context.WithDeadline(parent, d.until)
	}
	return d.ctx
}

// stop frees what a context holds, until the next is asked for.
func (d *deadline) stop() {
	if d.cancel != nil {
		d.cancel()
	}
	d.ctx, d.cancel = nil, nil
}
