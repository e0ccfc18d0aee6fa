package stream

import (
	"context"

	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/history"
)

// Cluster is where the served graphs come from. Its methods may be called by any goroutine.
type Cluster interface {
	// Find returns the view that a GraphView of this name declares.
	Find(name graphview.Name) (View, bool)
	// List returns all declared views, sorted by name.
	List() []View
	// Open creates a view for one connection and returns the function that ends it. The
	// error is a *delivery.ClosedError or describes the fault of the spec.
	Open(ctx context.Context, o graphview.OpenOptions) (View, func(), error)
}

// View is one graph.
type View interface {
	Name() graphview.Name
	UID() string
	// Err returns why the view is not served: a *delivery.ClosedError if a limit was
	// reached, else the error in its spec; nil if it is served.
	Err() error
	Status() graphview.Status
	// WaitSynced returns nil once the view is complete, ctx's error if ctx is done first,
	// and a *delivery.ClosedError if the view ends first.
	WaitSynced(ctx context.Context) error
	// Find returns one vertex and its arcs as access permits; nil if there is none or it is
	// not permitted. The error is a *delivery.ClosedError, or ctx's.
	Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error)
	// Changes answers a question about the history, Past returns the value for SubscribeOptions.Past and the time
	// from which on the past is known, and Gaps returns the gaps after a time. The error is that of Find, or
	// graphview.ErrNoHistory; that of Changes may also be delivery.ErrUnknownObject.
	Changes(ctx context.Context, q delivery.ChangesQuery, access delivery.Access) (*delivery.Changes, error)
	Past(at int64) (past *delivery.Past, since int64, err error)
	Gaps(since int64) []history.Gap
	// Subscribe starts after a revision, or with the whole graph.
	Subscribe(o delivery.SubscribeOptions) Subscription
}

// Subscription is one subscriber's position in a view. One goroutine at a time uses it, and
// closes it.
type Subscription interface {
	// Next waits for changes and returns frames, which are written in this order. The whole
	// graph, even an empty one, ends with a frame that has a Rev; it does not wait for the
	// view to sync. The error is a *delivery.ClosedError when the subscription has ended,
	// and ctx's error when ctx is done, after which Next may be called again.
	Next(ctx context.Context) ([]*delivery.Frame, error)
	// Poll is the half of Next for subscribers that take turns. It returns the frames to send now,
	// and a function that waits until there may be others. Poll makes the frames, so a subscriber
	// that waits for its turn holds nothing and then receives the net change.
	Poll() ([]*delivery.Frame, delivery.Wait, error)
	// Close is idempotent.
	Close()
}
