package graphview

import (
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/writer"
)

// follower adapts a view to writer.Follower.
type follower struct{ view *View }

var _ writer.Follower = follower{}

// Subscribers implements writer.Follower.
func (f follower) Subscribers() int { return f.view.publisher.Subscribers() }

// Told implements writer.Follower.
func (f follower) Told() int { return f.view.publisher.Told() }

// Arrived implements writer.Follower.
func (f follower) Arrived(head uint64, received time.Time) { f.view.publisher.Arrived(head, received) }

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
