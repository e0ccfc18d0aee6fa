package expr

import (
	"context"

	"github.com/google/cel-go/interpreter"

	"graphview.dev/graphview/budget"
)

// Bounds of one evaluation, in units. A unit is a step of the evaluation, some
// bytesMade that are made, or some bytesRead that are looked at, and takes a tenth
// of a microsecond or so.
var (
	evaluationCost = budget.Declare("expression_cost", "units of cost of one evaluation of an expression", CostLimit)
	resourceCost   = budget.Declare("resource_expression_cost", "units of cost of one evaluation of a resource selector", 10_000)
)

const (
	// bytesMade are the bytes of memory that one unit pays for: what one
	// evaluation makes is at most CostLimit times as much, 32 MB.
	bytesMade = 32
	// bytesRead are the bytes of text that one unit pays to look at, as many as
	// in Kubernetes.
	bytesRead = 10
)

const (
	// heavyCost is what an evaluation may cost before it waits for its turn.
	heavyCost = 50_000
	// askEvery is after how many units the context is asked.
	askEvery = 10_000
)

// heavy has a place for each evaluation that costs more than heavyCost, so that
// what all of them hold at the same time is bounded. Others never wait.
var heavy = make(chan struct{}, 4)

// varMeter is under what name the meter of an evaluation is found. No expression
// can contain it.
const varMeter = "@meter"

// meter is what one evaluation may still spend. It is charged before something is
// made or looked at. It belongs to one goroutine.
type meter struct {
	ctx   context.Context //nolint:containedctx // that of one evaluation
	bound *budget.Bound
	left  int
	ask   int
	heavy bool
}

// begin starts an evaluation.
func (m *meter) begin(ctx context.Context, bound *budget.Bound) {
	*m = meter{ctx: ctx, bound: bound, left: int(bound.Limit())}
	m.ask = m.left - askEvery
}

// end finishes it, and says what it cost.
func (m *meter) end() uint64 {
	if m.heavy {
		<-heavy
	}
	return uint64(int(m.bound.Limit()) - m.left) //nolint:gosec // never more than the limit
}

// spend takes units, or ends the evaluation: where they are used up, or where
// nobody waits for it. CEL recovers from that panic, as it does from its own. What
// is evaluated at compile time has no meter.
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

func (m *meter) wait() {
	m.ask = m.left - askEvery
	if m.ctx.Err() == nil && !m.heavy && int(m.bound.Limit())-m.left > heavyCost {
		select {
		case heavy <- struct{}{}:
			m.heavy = true
		case <-m.ctx.Done():
		}
	}
	if m.ctx.Err() != nil {
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
