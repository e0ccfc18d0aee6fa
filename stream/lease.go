package stream

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// lease is a subscriber's hold on the permissions of its identity: what the
// engine asks about its rights. It must be released.
type lease struct {
	permissions *permissions
	identity    *identity
	view        graphview.Name
	scope       *scope
	tenancy
	// refused: what the lease is for has been ended, and nothing is known.
	refused bool

	// seen is what Changed returned last, and shown what Rights did; both belong
	// to the identity's lock.
	seen  <-chan struct{}
	shown *rights
}

// tenancy is on what conditions a lease lasts.
type tenancy struct {
	// right is what the subscriber must remain allowed to do; zero: nothing.
	right question
	// credentials must remain valid; nil: they are not looked at again.
	credentials *credentials
	// end ends what the lease is for. Its cause is a *graphview.ClosedError.
	end context.CancelCauseFunc
}

// Rights implements graphview.Access. From one call of Changed to the next they
// gain answers but never change one: whoever has not seen yet that an answer
// changed is not given it under the hand, and so cannot miss that it must start
// over.
func (l *lease) Rights() graphview.Rights {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	if l.shown == nil || l.seen == nil || l.seen == l.scope.changed {
		l.shown = l.scope.rights
	}
	return l.shown
}

// Changed implements graphview.Access.
func (l *lease) Changed() <-chan struct{} {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	l.seen = l.scope.changed
	return l.seen
}

// Resolve implements graphview.Access. It waits out a short absence of the API
// server; the error after a longer one ends the subscription with 1013.
func (l *lease) Resolve(ctx context.Context, unknown []graphview.Place) error {
	if l.refused {
		return &graphview.ClosedError{Reason: reason.TooManyRequests, Message: identitiesPerUser.What()}
	}
	return l.identity.resolve(ctx, l.permissions.urgent, l.scope, unknown)
}

// inherit asks what another identity of the user was asked about the view, once. Where
// that fails, the answers are asked for as they are needed, and who comes back
// begins anew.
func (l *lease) inherit(ctx context.Context) {
	l.identity.mu.Lock()
	inherited := l.scope.inherited
	l.identity.mu.Unlock()
	if len(inherited) == 0 {
		return
	}
	asking, cancel := context.WithTimeout(ctx, refreshWithin)
	defer cancel()
	if l.Resolve(asking, inherited) != nil {
		return
	}
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	l.scope.inherited = nil
}

// release gives the lease back. It is called once.
func (l *lease) release() { l.permissions.release(l) }
