package expr

import (
	"context"
	"errors"

	"github.com/google/cel-go/interpreter"

	"graphview.dev/graphview/budget"
)

// evaluationCost limits one evaluation, in units. A unit is a step of the evaluation, some
// bytesMade that are made, or some bytesRead that are looked at, and takes a tenth
// of a microsecond or so.
var evaluationCost = budget.Declare("expression_cost", "units of cost of one evaluation of an expression", CostLimit)

const (
	// bytesMade are the bytes of memory that one unit pays for: what one
	// evaluation makes is at most CostLimit times as much, 32 MB.
	bytesMade = 32
	// bytesRead are the bytes of text that one unit pays to look at, as many as
	// in Kubernetes.
	bytesRead = 10
)

// varMeter is under what name the meter of an evaluation is found. No expression
// can contain it.
const varMeter = "@meter"

// meter is what one evaluation may still spend. It is charged before something is
// made or looked at. It belongs to one goroutine.
type meter struct {
	ctx  context.Context //nolint:containedctx // that of one evaluation
	left int
	// ask is what is left when the context is asked next.
	ask int
	// release ends the turn; nil before the evaluation has one.
	release func()
	// err ended the evaluation; nil if the context did.
	err error
}

// begin starts an evaluation.
func (m *meter) begin(ctx context.Context) {
	*m = meter{ctx: ctx, left: CostLimit, ask: CostLimit - TurnCost}
}

// end ends the evaluation, and returns its cost.
func (m *meter) end() uint64 {
	if m.release != nil {
		m.release()
	}
	return uint64(CostLimit - m.left) //nolint:gosec // never more than the limit
}

// spend takes units. It ends the evaluation if none are left, or if the context has ended. CEL
// recovers from that panic, as from its own. Evaluations at compile time have no meter.
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

// wait waits for a turn of a costly evaluation, and ends the evaluation if the context has ended.
func (m *meter) wait() {
	m.ask = m.left - TurnCost
	if m.ctx.Err() == nil && m.release == nil {
		m.release, m.err = AcquireTurn(m.ctx)
	}
	if m.ctx.Err() != nil || m.err != nil {
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: "context cancelled"})
	}
}

// makes is spend for bytes of memory.
func (m *meter) makes(bytes int) { m.spend(bytes/bytesMade + 1) }

// reads is spend for bytes of text.
func (m *meter) reads(bytes int) { m.spend(bytes / bytesRead) }

// meterOf is the meter of an evaluation, nil at compile time.
func meterOf(frame interpreter.Activation) *meter {
	found, _ := frame.ResolveName(varMeter)
	m, _ := found.(*meter)
	return m
}

// TurnCost is what an evaluation may cost before it waits for a turn, in units: about a
// millisecond.
const TurnCost = 10_000

// Turn waits until costly work may go on. release, which is called once, ends the turn.
// An error ends the work.
type Turn func(ctx context.Context) (release func(), err error)

type turnKey struct{}

// WithTurn returns a context under which each compilation of an expression waits for a
// turn, and each evaluation that costs more than TurnCost. With nil they do not wait: their
// caller has a turn, or needs none.
func WithTurn(ctx context.Context, wait Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, wait)
}

// ErrPostponed is the error of Postpone.
var ErrPostponed = errors.New("the evaluation is postponed")

// Postpone is the Turn of callers that do not wait for a costly evaluation.
func Postpone(context.Context) (release func(), err error) { return nil, ErrPostponed }

// AcquireTurn waits for the turn of a context. The caller calls release, which ends the turn.
func AcquireTurn(ctx context.Context) (release func(), err error) {
	if wait, ok := ctx.Value(turnKey{}).(Turn); ok && wait != nil {
		return wait(ctx)
	}
	return func() {}, nil
}
