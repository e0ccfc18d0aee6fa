package quota

import (
	"fmt"
	"sync/atomic"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
)

// MaxCost limits the cost of all expressions of one author on one object, in CEL's units. A few
// expressions that each cost the maximum of one reach it.
const MaxCost = 4 * expr.CostLimit

// Budget charges the expressions of one view or rule to its owner. A changed or retried view or
// rule gets a new one, so that an evaluation that began before does not count against it.
type Budget struct {
	owner *budget.Bucket
	// exceeded: the owner once had too little left. No further expression is evaluated.
	exceeded atomic.Bool
}

// NewBudget returns a budget that takes from a bucket.
func NewBudget(owner *budget.Bucket) *Budget { return &Budget{owner: owner} }

// Charge takes the cost of an evaluation, and reports whether the owner had it.
func (b *Budget) Charge(cost uint64) bool {
	if cost == 0 || b.owner.Take(int(min(cost, 2*MaxCost))) {
		return true
	}
	b.exceeded.Store(true)
	return false
}

// Exceeded reports whether the owner had too little left. That does not change any more.
func (b *Budget) Exceeded() bool { return b.exceeded.Load() }

// Excess describes the costs that exceeded the budget, together with those of others.
func (b *Budget) Excess(subject, others string) string {
	return fmt.Sprintf("%s cost more than %d units, together with %s, or all the time more than %d a second", subject, b.owner.Size(), others, b.owner.PerSecond())
}

// Renewed returns a budget of the same owner that is not exceeded.
func (b *Budget) Renewed() *Budget { return &Budget{owner: b.owner} }

// Owner returns the bucket that the budget takes from.
func (b *Budget) Owner() *budget.Bucket { return b.owner }
