package graphview

import (
	"fmt"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/budget"
)

// An owner's expressions may cost defaultBudget units at once: ten thousand for each of
// 100,000 objects, which takes half a minute of a core or more. A hundredth of it is
// granted again each second.
const (
	defaultBudget = 1_000_000_000
	budgetRefill  = 100 * time.Second
)

// costBudget charges the expressions of one view or rule to its owner. It is replaced
// when they change or are tried again, so that an evaluation that began before does not
// count against what came after it.
type costBudget struct {
	owner *budget.Bucket
	// exceeded: the owner had too little left once. Nothing more is evaluated.
	exceeded atomic.Bool
}

func (e *Engine) newCostBudget(owner budget.Owner) *costBudget {
	return &costBudget{owner: e.budgets.Bucket(owner)}
}

// charge takes what an evaluation cost, and reports whether the owner had it.
func (b *costBudget) charge(cost uint64) bool {
	if cost == 0 || b.owner.Take(int(min(cost, 2*maxCost))) {
		return true
	}
	b.exceeded.Store(true)
	return false
}

// excess says how much the owner spent, on what the subject names.
func (b *costBudget) excess(subject, others string) string {
	return fmt.Sprintf("%s cost more than %d units, together with %s, or all the time more than %d a second", subject, b.owner.Size(), others, b.owner.PerSecond())
}

// renewed is a budget that is not exceeded yet, of the same owner.
func (b *costBudget) renewed() *costBudget { return &costBudget{owner: b.owner} }

// tooCostly says why the view is not served once its owner's budget was exceeded.
func (v *View) tooCostly() string {
	others := "those of the other GraphViews of its namespace"
	if !v.named {
		others = "those of your other views"
	}
	if v.walksWithDepth() {
		return v.budget.Load().excess("the view's expressions, and finding what is within the depth of roots.follow whenever something changes,", others) +
			"; leave the depth out, simplify the expressions, or have label selectors or queries leave fewer objects to them"
	}
	return v.budget.Load().excess("the view's expressions", others) +
		"; simplify them, or have label selectors or queries leave fewer objects to them"
}
