package graphview

import (
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

// What is delivered, under the names that the engine's callers know.
type (
	// Access is what one subscriber may see.
	Access = delivery.Access
	// ClosedError is how a subscription ends when not by its subscriber.
	ClosedError = delivery.ClosedError
	// Frame is one message.
	Frame = delivery.Frame
	// Place is where vertices of one sort are.
	Place = access.Place
	// Rights are answers about places.
	Rights = delivery.Rights
	// SubscribeOptions say where a subscription begins and what it may see.
	SubscribeOptions = delivery.SubscribeOptions
	// Subscription is one subscriber's position in a view.
	Subscription = delivery.Subscription
)

// MaxFrameBytes bounds a message on the wire.
const MaxFrameBytes = delivery.MaxFrameBytes
