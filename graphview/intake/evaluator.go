package intake

import (
	"context"
	"sync/atomic"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quarantine"
	"graphview.dev/graphview/quota"
)

// Consumer takes objects from feeds: a view.
type Consumer interface {
	// Kick makes the consumer look at its taps again. It does not block.
	Kick()
	// Lens returns the consumer's part of the graph. Only the writer calls it.
	Lens() *graph.Lens
	// Warnings returns the consumer's warnings.
	Warnings() *delivery.Warnings
}

// Evaluator evaluates the expressions of one consumer: it charges their owner, records the work, and
// keeps the backlog of objects that watches do not wait for.
type Evaluator struct {
	intake   *Intake
	consumer Consumer
	name     string // in the log

	owner     budget.Owner
	budget    atomic.Pointer[quota.Budget]
	work      atomic.Pointer[quarantine.Work]
	suspected atomic.Bool

	backlog
}

// NewEvaluator returns the Evaluator of a consumer, which has to call ChargeTo before it takes from
// a feed.
func (in *Intake) NewEvaluator(c Consumer, name string) *Evaluator {
	return &Evaluator{intake: in, consumer: c, name: name}
}

// ChargeTo sets the owner of the consumer's expressions, and their budget.
func (e *Evaluator) ChargeTo(owner budget.Owner, b *quota.Budget) {
	e.owner = owner
	e.budget.Store(b)
}

// Owner returns the owner of the consumer's expressions.
func (e *Evaluator) Owner() budget.Owner { return e.owner }

// Budget returns the budget of the consumer's expressions.
func (e *Evaluator) Budget() *quota.Budget { return e.budget.Load() }

// RenewBudget allows further evaluations, and reports whether the budget was exceeded before.
func (e *Evaluator) RenewBudget() (exceeded bool) {
	before := e.budget.Load()
	e.budget.Store(before.Renewed())
	return before.Exceeded()
}

// Record sets the work that is recorded during each evaluation.
func (e *Evaluator) Record(w quarantine.Work) {
	e.work.Store(&w)
	e.suspected.Store(e.intake.o.Processors.Suspects(w))
}

// Begin sets the context in which the backlog is worked on. Before, the backlog takes no object.
func (e *Evaluator) Begin(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ctx = ctx
}
