package rights

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

// Lease gives one subscriber, or one view, the permissions of its identity. The
// engine asks it about the subscriber's rights. It must be released.
type Lease struct {
	permissions *Permissions
	identity    *identity
	scope       *scope
	Terms
	// refused reports whether the stream of the lease was ended at once. The lease then has no answers.
	refused bool

	// lastChanged is the last result of Changed, and lastRights that of Rights; the identity's lock guards
	// both.
	lastChanged <-chan struct{}
	lastRights  *rights
}

// Terms are the conditions under which a lease lasts.
type Terms struct {
	// Right is the permission that the subscriber must keep, and Doing the same in
	// words, as in "you may …"; zero: none.
	Right access.Question
	Doing string
	// Credentials must remain valid; nil: they are not checked again.
	Credentials Credentials
	// End ends the stream of the lease. Its cause is a *delivery.ClosedError. It must not wait or use the lease.
	End context.CancelCauseFunc
}

// Credentials are the credentials of an authenticated subscriber.
type Credentials interface {
	// Valid reports whether the credentials still belong to the identity of a Key. The error means that
	// this could not be checked.
	Valid(ctx context.Context, key string) (bool, error)
}

// Rights implements delivery.Access. Between two calls of Changed the rights only gain
// answers. A subscriber sees a changed answer only after the channel of
// Changed was closed and it has started over.
func (l *Lease) Rights() delivery.Rights {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	if l.lastRights == nil || l.lastChanged == nil || l.lastChanged == l.scope.changed {
		l.lastRights = l.scope.rights
	}
	return l.lastRights
}

// Changed implements delivery.Access.
func (l *Lease) Changed() <-chan struct{} {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	l.lastChanged = l.scope.changed
	return l.lastChanged
}

// Resolve implements delivery.Access. It waits while the API server is unavailable for a short
// time; the error after a longer time ends the subscription with 1013.
func (l *Lease) Resolve(ctx context.Context, unknown []access.Place) error {
	if l.refused {
		return &delivery.ClosedError{Reason: reason.LimitExceeded, Message: "there is no memory for more credentials of your user"}
	}
	return l.identity.resolve(ctx, l.permissions.o.Urgent, l.scope, unknown)
}

// Owner returns the owner that pays for the user.
func (l *Lease) Owner() budget.Owner { return l.identity.owner }

// Release releases the lease. It is called once.
func (l *Lease) Release() { l.permissions.release(l) }

// Latest returns the latest answers, also if the subscriber has not been notified of them yet.
func (l *Lease) Latest() delivery.Rights {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	return l.scope.rights
}

// Retain forgets the answers about other places than these and the wider ones, unless another lease needs them.
func (l *Lease) Retain(places []access.Place) {
	needed := make(answers)
	for _, widen := range wider {
		for _, p := range places {
			needed.set(widen(p), true)
		}
	}
	l.identity.retain(l.scope, needed)
}
