package stream

import (
	"context"
	"time"
)

// allowance makes contexts that give something so much time, or up to a slack
// less: one lasts until the slack is used up, so that a busy stream does not make
// one for each message.
type allowance struct {
	time, slack time.Duration

	ctx    context.Context
	cancel context.CancelFunc
	until  time.Time
}

// under returns a context under the parent, which is always the same. It is to be
// given up in the end.
func (a *allowance) under(parent context.Context) context.Context {
	if a.ctx == nil || a.ctx.Err() != nil || time.Until(a.until) < a.time-a.slack {
		a.giveUp()
		a.until = time.Now().Add(a.time)
		a.ctx, a.cancel = context.WithDeadline(parent, a.until)
	}
	return a.ctx
}

// giveUp frees what a context holds, until the next is asked for.
func (a *allowance) giveUp() {
	if a.cancel != nil {
		a.cancel()
	}
	a.ctx, a.cancel = nil, nil
}
