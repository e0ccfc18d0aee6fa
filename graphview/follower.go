package graphview

import (
	"time"

	"graphview.dev/graphview/writer"
)

// follower is a view as the writer knows it.
type follower struct{ view *View }

var _ writer.Follower = follower{}

// Subscribers implements writer.Follower.
func (f follower) Subscribers() int { return f.view.publisher.Subscribers() }

// Arrived implements writer.Follower.
func (f follower) Arrived(head uint64, received time.Time) { f.view.publisher.Arrived(head, received) }

// Published implements writer.Follower.
func (f follower) Published() {
	if f.view.lens.Vertices() > f.view.engine.o.MaxVertices {
		f.view.kick()
	}
	f.view.notify()
}

// Walked implements writer.Follower. A visit takes about half as long as a unit of an expression's
// cost.
func (f follower) Walked(visits int) {
	cost := uint64(visits) / 2 //nolint:gosec // not negative
	f.view.engine.processors.Cost.Add(cost)
	if !f.view.budget.Load().Charge(cost) {
		f.view.kick()
	}
}
