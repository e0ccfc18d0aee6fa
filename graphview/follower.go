package graphview

import (
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/writer"
)

// follower is the writer.Follower of a view. Its subscribers are those of the Publisher.
type follower struct {
	*delivery.Publisher

	view *View
}

var _ writer.Follower = follower{}

// Published implements writer.Follower.
func (f follower) Published() {
	// The keeper handles the errors.
	_ = f.view.charge(budget.Elements, f.view.lens.Bytes())
	_ = f.view.charge(budget.Faults, f.view.warnings.Bytes())
	if f.view.lens.Vertices() > f.view.engine.o.MaxVertices {
		f.view.interruptPlan()
	}
	f.view.notify()
}

// Walked implements writer.Follower. A visit takes about half the time of one unit of expression cost.
func (f follower) Walked(visits int) {
	cost := uint64(visits) / 2 //nolint:gosec // not negative
	f.view.engine.processors.Cost.Add(cost)
	if !f.view.evaluator.Budget().Charge(cost) {
		f.view.evaluator.Kick()
	}
}
