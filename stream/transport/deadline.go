package transport

import (
	"context"
	"time"
)

// Deadline makes contexts that end after Time, or up to Slack sooner. Messages share a
// context until more than Slack of its time has passed, so a busy stream does not make
// one for each message.
type Deadline struct {
	Time, Slack time.Duration

	ctx    context.Context
	cancel context.CancelFunc
	until  time.Time
}

// Under returns a context under the parent, which must always be the same. The caller calls Stop in the end.
func (d *Deadline) Under(parent context.Context) context.Context {
	if d.ctx == nil || d.ctx.Err() != nil || time.Until(d.until) < d.Time-d.Slack {
		d.Stop()
		d.until = time.Now().Add(d.Time)
		d.ctx, d.cancel = context.WithDeadline(parent, d.until)
	}
	return d.ctx
}

// Stop frees the present context. The next call of Under makes another one.
func (d *Deadline) Stop() {
	if d.cancel != nil {
		d.cancel()
	}
	d.ctx, d.cancel = nil, nil
}
