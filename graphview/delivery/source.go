package delivery

import (
	"context"
	"sync/atomic"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// Source is what delivery asks of whoever keeps a view. All functions are required,
// may be called at any time by any goroutine, and must not block.
type Source struct {
	// Name is for logs, UID tells a view from another one of the same name.
	Name, UID string
	// Run encrypts revisions. It is the same for all views of a process.
	Run *Run
	// Shared is what the publishers of a process have in common.
	Shared   *Shared
	Warnings *Warnings
	Logger   logr.Logger

	// Err says why the view is not served, nil if it is.
	Err func() error
	// Synced tells whether the graph is complete.
	Synced func() bool
	// News is closed when Synced, Warnings or Err may say something else.
	News func() <-chan struct{}
	// Interruption ends the subscriptions that begin before it.
	Interruption func() *Interruption
	// Scope is what the view selects.
	Scope func() Scope
	// Notify is told when somebody subscribed or left.
	Notify func()
}

// Scope is what a view selects, as far as its warnings about rights go.
type Scope struct {
	// Generation is another one whenever the rest is.
	Generation uint64
	// Resources are those that the view selects. It is not changed.
	Resources []ScopedResource
	// Namespaces are those that the spec names; nil where it names none.
	Namespaces map[string]bool
}

// ScopedResource is a resource that a view selects.
type ScopedResource struct {
	graph.Resource

	Namespaced bool
}

// Interruption ends subscriptions.
type Interruption struct {
	// Over is closed when they are over. Why is set before.
	Over chan struct{}
	Why  *ClosedError
}

// Shared is what the publishers of a process have in common. The zero value is ready.
type Shared struct {
	// Recall has revisions honoured for subscribers about whom nothing has been asked
	// yet, because they come by way of another replica. It is set before all else.
	Recall bool
	// Turn waits until a subscriber of an owner may encode a piece of a whole graph, and returns
	// how the subscriber ends that. Nil: it need not wait. It is set before all else.
	Turn func(ctx context.Context, owner budget.Owner) (release func(), err error)

	recall      recall
	large       largeFrames
	kept        atomic.Int64 // bytes of shared changes
	encodings   atomic.Uint64
	subscribers atomic.Int64
}

// Encodings is how often something new was encoded.
func (s *Shared) Encodings() uint64 { return s.encodings.Load() }

// Subscribers is how many there are.
func (s *Shared) Subscribers() int64 { return s.subscribers.Load() }
