package delivery

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
)

// Source connects a Publisher to its view. All functions are required. Any goroutine may call them at
// any time, and they must not block.
type Source struct {
	// Name is for logs. UID distinguishes a view from another one of the same name.
	Name, UID string
	// Run encrypts revisions. It is the same for all views of a process.
	Run *Run
	// Shared is the same for all publishers of a process.
	Shared   *Shared
	Warnings *Warnings
	Logger   logr.Logger

	// Err returns the reason why the view is not served, nil if it is served.
	Err func() error
	// Synced reports whether the graph is complete.
	Synced func() bool
	// News returns a channel that is closed when Synced, Warnings or Err may have changed.
	News func() <-chan struct{}
	// Interruption returns the Interruption that ends the subscriptions that begin now.
	Interruption func() *Interruption
	// Scope returns the resources and namespaces that the view selects.
	Scope func() Scope
	// Notify is called after the number of subscribers has changed.
	Notify func()
}

// Scope has the resources and namespaces of a view, for its warnings about rights.
type Scope struct {
	// Generation changes whenever another field does.
	Generation uint64
	// Resources are the resources that the view selects. The slice is immutable.
	Resources []ScopedResource
	// Namespaces has the namespaces in the spec, nil if the spec names none. It is never empty.
	Namespaces map[string]bool
	// Named changes if Namespaces does.
	Named uint64
}

// ScopedResource is a resource that a view selects.
type ScopedResource struct {
	graph.Resource

	Namespaced bool
}

// Interruption ends subscriptions.
type Interruption struct {
	// Over is closed to end the subscriptions. Why is set before that.
	Over chan struct{}
	Why  *ClosedError
}

// Shared is the state that the publishers of a process share. The zero value is ready.
type Shared struct {
	// Turn waits until a subscriber of an owner may encode a piece of a whole graph. The subscriber
	// calls release afterwards. If Turn is nil, no subscriber waits. It is set before any other use.
	Turn func(ctx context.Context, owner budget.Owner) (release func(), err error)

	large       largeFrames
	kept        atomic.Int64 // bytes of shared changes
	encodings   atomic.Uint64
	subscribers atomic.Int64
}

// Encodings returns the number of pieces that were encoded.
func (s *Shared) Encodings() uint64 { return s.encodings.Load() }

// Subscribers returns the number of subscribers.
func (s *Shared) Subscribers() int64 { return s.subscribers.Load() }

// ClosedError is the reason why the server ended a subscription, on every transport.
type ClosedError struct {
	Reason reason.Reason
	// Message is for people. It may be longer than a close frame allows.
	Message string
}

func (e *ClosedError) Error() string { return fmt.Sprintf("closed (%s): %s", e.Reason, e.Message) }

// Code returns the WebSocket close code of the reason.
func (e *ClosedError) Code() reason.Code { return e.Reason.Code() }
