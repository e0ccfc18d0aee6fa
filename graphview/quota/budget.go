package quota

import (
	"fmt"
	"sync/atomic"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
)

// MaxCost limits the cost of all expressions of one author on one object, in CEL's units. Four
// expressions that each cost expr.CostLimit reach it.
const MaxCost = 4 * expr.CostLimit

// Budget charges the expressions of one view or rule to its owner. A view or rule that is changed
// or retried gets a new Budget, so an earlier evaluation that is still running cannot exceed it.
type Budget struct {
	owner *budget.Bucket
	// exceeded is true once the owner had too few tokens. No further expression is evaluated.
	exceeded atomic.Bool
}

// NewBudget returns a budget that takes from a bucket.
func NewBudget(owner *budget.Bucket) *Budget { return &Budget{owner: owner} }

// Charge takes the cost of an evaluation, and reports whether the owner had enough tokens.
func (b *Budget) Charge(cost uint64) bool {
	if cost == 0 || b.owner.Take(int(min(cost, 2*MaxCost))) {
		return true
	}
	b.exceeded.Store(true)
	return false
}

// Exceeded reports whether a Charge has failed. It never becomes false again.
func (b *Budget) Exceeded() bool { return b.exceeded.Load() }

// Excess returns the message for an exceeded budget. others names the other users of the owner's tokens.
func (b *Budget) Excess(subject, others string) string {
	return fmt.Sprintf("%s cost more than %d units, together with %s, or all the time more than %d a second", subject, b.owner.Size(), others, b.owner.PerSecond())
}

// Renewed returns a budget of the same owner that is not exceeded.
func (b *Budget) Renewed() *Budget { return &Budget{owner: b.owner} }

// Owner returns the bucket that the budget takes from.
func (b *Budget) Owner() *budget.Bucket { return b.owner }
