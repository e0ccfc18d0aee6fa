package graphview

import (
	"context"
	"runtime"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/quarantine"
)

// maxTurns bounds the memory of what has a turn: an evaluation makes up to 32 MB, and a
// compilation some tens of MB.
const maxTurns = 4

// newTurns shares half of the processors among owners, for all work that is not the
// handling of one event: replays, expressions that cost much, and compilation. The other
// half is left to events.
func newTurns() *fairqueue.Queue {
	return fairqueue.New(fairqueue.Options{AtOnce: min(maxTurns, max(1, runtime.GOMAXPROCS(0)/2))})
}

// wholeGraphTurns shares all processors but one among subscribers that encode pieces of whole
// graphs. The remaining one is left to changes.
func wholeGraphTurns() func(ctx context.Context, owner budget.Owner) (release func(), err error) {
	turns := fairqueue.New(fairqueue.Options{AtOnce: max(1, runtime.GOMAXPROCS(0)-1)})
	return func(ctx context.Context, owner budget.Owner) (release func(), err error) {
		turn, err := turns.Acquire(ctx, owner, fairqueue.Interactive)
		return turn.Release, err
	}
}

// turn is the owner's wait for a turn.
func (e *Engine) turn(owner budget.Owner) expr.Turn {
	return func(ctx context.Context) (release func(), err error) {
		turn, err := e.turns.Acquire(ctx, owner, fairqueue.Interactive)
		return turn.Release, err
	}
}

// Compiling returns a context under which expressions are compiled in turns of the owner.
func (e *Engine) Compiling(ctx context.Context, owner budget.Owner) context.Context {
	return expr.WithTurn(ctx, e.turn(owner))
}

// noted is work that is under way.
type noted struct {
	record  quarantine.Record
	suspect fairqueue.Turn
}

// suspectKey marks the context of suspected work.
type suspectKey struct{}

// begin notes work for what an owner wrote. Work that is suspected of having ended the
// process waits until no other suspect is under way. Locks are in this order: a replay's
// turn of Engine.turns, then the one of Engine.suspects. The error is a
// *[quarantine.Refusal], or ctx's.
func (e *Engine) begin(ctx context.Context, owner budget.Owner, w quarantine.Work) (n noted, err error) {
	if e.o.Quarantine.Suspects(w) && ctx.Value(suspectKey{}) == nil {
		if n.suspect, err = e.suspects.Acquire(ctx, owner, fairqueue.Interactive); err != nil {
			return noted{}, err
		}
	}
	if n.record, err = e.o.Quarantine.Begin(w); err != nil {
		n.suspect.Release()
		return noted{}, err
	}
	return n, nil
}

// within returns a context for the parts of the work. Those of suspected work have its
// turn, and wait for no other one.
func (n noted) within(ctx context.Context) context.Context {
	if n.suspect == (fairqueue.Turn{}) {
		return ctx
	}
	return context.WithValue(expr.WithTurn(ctx, nil), suspectKey{}, true)
}

func (n noted) end() {
	n.record.End()
	n.suspect.Release()
}
