package quota

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/fairqueue"
)

// maxTurns bounds the memory of concurrent work: an evaluation allocates up to 32 MB, a compilation
// some tens of MB.
const maxTurns = 4

// Processors shares processor time among owners.
type Processors struct {
	// Cost sums the cost of expressions, in CEL's units.
	Cost atomic.Uint64

	turns  *fairqueue.Queue
	panics panicLog
}

// NewProcessors returns Processors that leave one processor to the events of objects, if there are
// several.
func NewProcessors(logger logr.Logger) *Processors {
	return &Processors{turns: fairqueue.New(fairqueue.Options{AtOnce: atOnce()}), panics: panicLog{logger: logger}}
}

// atOnce returns the number of turns that are held at the same time.
func atOnce() int { return min(maxTurns, max(1, runtime.GOMAXPROCS(0)-1)) }

// Acquire waits for a turn of an owner.
func (p *Processors) Acquire(ctx context.Context, owner budget.Owner) (fairqueue.Turn, error) {
	return p.turns.Acquire(ctx, owner)
}

// EncodeTurn waits for the turn of a subscriber that encodes a piece of a whole graph. The owner's
// replays and expressions are other parts of the queue.
func (p *Processors) EncodeTurn(ctx context.Context, owner budget.Owner) (release func(), err error) {
	turn, err := p.turns.AcquirePart(ctx, owner, "whole graphs")
	return turn.Release, err
}

// Waiting returns the number of goroutines that wait for a turn.
func (p *Processors) Waiting() int { return p.turns.Waiting() }

// Turn returns the function with which expressions of the owner wait for a turn.
func (p *Processors) Turn(owner budget.Owner) expr.Turn {
	return func(ctx context.Context) (release func(), err error) {
		// Replays of the owner are another part of the queue, so a compilation waits for at most one.
		turn, err := p.turns.AcquirePart(ctx, owner, "expressions")
		return turn.Release, err
	}
}
