package rights

import (
	"context"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
)

// Lease is a subscriber's hold on the permissions of its identity: what the
// engine asks about its rights. It must be released.
type Lease struct {
	permissions *Permissions
	identity    *identity
	scope       *scope
	Terms
	// refused: what the lease is for has been ended, and nothing is known.
	refused bool

	// seen is what Changed returned last, and shown what Rights did; both belong
	// to the identity's lock.
	seen  <-chan struct{}
	shown *rights
}

// Terms are on what conditions a lease lasts.
type Terms struct {
	// Right is what the subscriber must remain allowed to do, and Doing says it in
	// words, as in "you may …"; zero: nothing.
	Right access.Question
	Doing string
	// Credentials must remain valid; nil: they are not looked at again.
	Credentials Credentials
	// End ends what the lease is for. Its cause is a *delivery.ClosedError.
	End context.CancelCauseFunc
}

// Credentials are what a subscriber was authenticated by.
type Credentials interface {
	// Valid reports whether they still belong to the identity of a Key. The error means that
	// this could not be checked.
	Valid(ctx context.Context, key string) (bool, error)
}

// Rights implements delivery.Access. From one call of Changed to the next they gain
// answers, and no answer changes. A subscriber sees an answer that changed only after
// Changed has told it to start over.
func (l *Lease) Rights() delivery.Rights {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	if l.shown == nil || l.seen == nil || l.seen == l.scope.changed {
		l.shown = l.scope.rights
	}
	return l.shown
}

// Changed implements delivery.Access.
func (l *Lease) Changed() <-chan struct{} {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	l.seen = l.scope.changed
	return l.seen
}

// Resolve implements delivery.Access. It waits out a short absence of the API
// server; the error after a longer one ends the subscription with 1013.
func (l *Lease) Resolve(ctx context.Context, unknown []access.Place) error {
	if l.refused {
		return &delivery.ClosedError{Reason: reason.LimitExceeded, Message: "there is no memory for more credentials of your user"}
	}
	return l.identity.resolve(ctx, l.permissions.urgent, l.scope, unknown)
}

// Owner is that of the user who has the lease.
func (l *Lease) Owner() budget.Owner { return l.identity.owner }

// Release gives the lease back. It is called once.
func (l *Lease) Release() { l.permissions.release(l) }

// Permit is what the subscriber may have a view fed with.
func (l *Lease) Permit(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
	answers := make(map[access.Place]bool, len(places))
	known := func() (missing []access.Place) {
		rights := l.current()
		for _, p := range places {
			allowed, ok := rights.Allowed(p)
			if !ok {
				missing = append(missing, p)
				continue
			}
			answers[p] = allowed
		}
		return missing
	}
	missing := known()
	if len(missing) == 0 {
		return answers, nil
	}
	err := l.Resolve(ctx, missing)
	known()
	return answers, err
}

// current returns the latest answers, also if the subscriber has not been notified of them yet.
func (l *Lease) current() *rights {
	l.identity.mu.Lock()
	defer l.identity.mu.Unlock()
	return l.scope.rights
}
