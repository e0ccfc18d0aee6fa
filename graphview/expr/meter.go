package expr

import (
	"context"
	"errors"

	"github.com/google/cel-go/interpreter"

	"graphview.dev/graphview/budget"
)

// evaluationCost limits the cost of one evaluation, in units. A unit is one step of the
// evaluation, bytesMade bytes of new memory, or bytesRead bytes of text that are read. It
// takes about a tenth of a microsecond.
var evaluationCost = budget.Declare("expression_cost", "units of cost of one evaluation of an expression", CostLimit)

const (
	// bytesMade is the memory that one unit pays for, in bytes. One evaluation
	// allocates at most CostLimit times as much, 32 MB.
	bytesMade = 32
	// bytesRead is the length of text that one unit pays for, in bytes, as in
	// Kubernetes.
	bytesRead = 10
)

// varMeter is the variable that has the meter of an evaluation. No expression can
// contain the name.
const varMeter = "@meter"

// meter counts the units that one evaluation may still spend. It is charged before
// values are made or read. It belongs to one goroutine.
type meter struct {
	ctx  context.Context //nolint:containedctx // that of one evaluation
	turn Turn
	left int
	// ask is the value of left below which spend next checks the context.
	ask int
	// release ends the turn; nil before the evaluation has one.
	release func()
	// err ended the evaluation; nil if the context did.
	err error
}

func (m *meter) begin(ctx context.Context, turn Turn) {
	*m = meter{ctx: ctx, turn: turn, left: CostLimit, ask: CostLimit - TurnCost}
}

// end ends the evaluation, and returns its cost.
func (m *meter) end() uint64 {
	if m.release != nil {
		m.release()
	}
	return uint64(CostLimit - m.left) //nolint:gosec // never more than the limit
}

// spend takes units. If too few are left or the context has ended, it ends the evaluation with a panic,
// from which CEL recovers as from its own. Evaluations at compile time have a nil meter.
func (m *meter) spend(units int) {
	if m == nil {
		return
	}
	if units < 0 || units > m.left {
		m.left = 0
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "cost limit exceeded"})
	}
	if m.left -= units; m.left < m.ask {
		m.wait()
	}
}

// wait waits for a turn if the evaluation has none, and ends the evaluation if the context has ended.
func (m *meter) wait() {
	m.ask = m.left - TurnCost
	if m.ctx.Err() == nil && m.release == nil {
		m.release, m.err = m.turn.Acquire(m.ctx)
	}
	if m.ctx.Err() != nil || m.err != nil {
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: "context cancelled"})
	}
}

// chargeAlloc is spend for bytes of memory.
func (m *meter) chargeAlloc(bytes int) { m.spend(bytes/bytesMade + 1) }

// chargeRead is spend for bytes of text.
func (m *meter) chargeRead(bytes int) { m.spend(bytes / bytesRead) }

// meterOf returns the meter of an evaluation, nil at compile time.
func meterOf(frame interpreter.Activation) *meter {
	found, _ := frame.ResolveName(varMeter)
	m, _ := found.(*meter)
	return m
}

// TurnCost is the cost from which an evaluation waits for a turn, in units: about a
// millisecond.
const TurnCost = 10_000

// Turn waits until costly work may continue: a compilation, or an evaluation that costs more than
// TurnCost. The caller ends the turn with one call of release. An error ends the work. Work with a nil
// Turn does not wait: the caller has a turn or needs none.
type Turn func(ctx context.Context) (release func(), err error)

// Acquire calls a Turn, which may be nil.
func (t Turn) Acquire(ctx context.Context) (release func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	return t(ctx)
}

// ErrPostponed is the error of Postpone.
var ErrPostponed = errors.New("the evaluation is postponed")

// Postpone is the Turn of callers that do not wait: a costly evaluation fails with ErrPostponed.
func Postpone(context.Context) (release func(), err error) { return nil, ErrPostponed }
