package delivery

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
)

// PublisherOptions connect a Publisher to its view. All fields are required.
type PublisherOptions struct {
	// Name is for logs. UID distinguishes a view from another one of the same name.
	Name, UID string
	// Run encrypts revisions. It is the same for all views of a process.
	Run *Run
	// Shared is the same for all publishers of a process.
	Shared   *Shared
	Warnings *Warnings
	// State has the phase and the scope of the view.
	State  *ViewState
	Logger logr.Logger

	// Hold sets the number of bytes that the view holds for a use: Summaries, or Messages that
	// subscribers share. It returns an error, and changes nothing, if the owner of the view may not hold
	// that many. It must not block.
	Hold func(use budget.Use, bytes int64) error
	// Notify is called after the number of subscribers has changed. It must not block.
	Notify func()
}

// Shared is the state that the publishers of a process share. The zero value is ready.
type Shared struct {
	// Turn waits until a subscriber of an owner may encode a piece of a whole graph. The subscriber
	// calls release afterwards. If Turn is nil, no subscriber waits. It is set before any other use.
	Turn func(ctx context.Context, owner budget.Owner) (release func(), err error)

	large       largeFrames
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
