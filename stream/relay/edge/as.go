package edge

import (
	"context"
	"errors"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/relay/wire"
)

// As is the access of a user about whom the other side decides: a gateway, which asks its
// own API server. The edge has no answers of its own, so none are sent.
type As struct{ User wire.User }

var errOwnAnswers = errors.New("the other cluster asks for answers that only its own API server has")

// Rights implements delivery.Access.
func (a As) Rights() delivery.Rights { return unanswered{} }

// Changed implements delivery.Access: never.
func (a As) Changed() <-chan struct{} { return nil }

// Resolve implements delivery.Access. A gateway never asks.
func (a As) Resolve(context.Context, []access.Place) error { return errOwnAnswers }

// unanswered are rights without answers.
type unanswered struct{}

// Allowed implements delivery.Rights.
func (unanswered) Allowed(access.Place) (allowed, known bool) { return false, false }

// Digest implements delivery.Rights.
func (unanswered) Digest() string { return "" }
