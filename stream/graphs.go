package stream

import (
	"context"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
)

// Graphs is what there is to serve. Its methods are called by many goroutines.
type Graphs interface {
	// View finds a view by the name of the GraphView that declares it.
	View(name graphview.Name) (View, bool)
	// Views are all views, sorted by name.
	Views() []View
	// Open makes a view for one connection and returns how to end it. The error
	// is a *delivery.ClosedError or says what is wrong with the spec.
	Open(ctx context.Context, o graphview.OpenOptions) (View, func(), error)
}

// View is one graph.
type View interface {
	Name() graphview.Name
	UID() string
	// Err says why the view is not served: a *delivery.ClosedError if a limit
	// was reached, else what is wrong with its spec; nil if it is served.
	Err() error
	Status() graphview.Status
	// WaitSynced returns nil once the view is complete, ctx's error if the caller
	// gave up, and a *delivery.ClosedError if the view ended meanwhile.
	WaitSynced(ctx context.Context) error
	// Find returns one vertex as access lets it be seen, with its arcs; nil if it does
	// not, or there is none. The error is a *delivery.ClosedError, or ctx's.
	Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error)
	// Subscribe starts after a revision, or with the whole graph.
	Subscribe(o delivery.SubscribeOptions) Subscription
}

// Subscription is one subscriber's position in a view. It is used by one
// goroutine at a time and must be closed.
type Subscription interface {
	// Next waits until there is something to send and returns it: frames to be
	// written in this order. The whole graph, even an empty one, ends with a frame
	// that has a Rev, and does not wait for the view to sync. The error is a
	// *delivery.ClosedError when the subscription is over and ctx's error when the
	// caller gave up, who may call again.
	Next(ctx context.Context) ([]*delivery.Frame, error)
	// Poll and Wait are the two halves of Next, for whoever has to take turns: what
	// there is to send now, and waiting, after that was nothing, until it may be
	// something. What is sent is made by Poll, so who waits for a turn first holds
	// nothing and is then given the net change.
	Poll() ([]*delivery.Frame, error)
	Wait(ctx context.Context) error
	// Close is idempotent.
	Close()
}
