package graphview

import (
	"context"

	"graphview.dev/graphview/access"
)

// Place is where vertices of one sort are: what a right is about. Namespace is
// "" for cluster-scoped resources.
type Place = access.Place

// Access is what one subscriber may see, as it stands now. Its methods may be
// called by several goroutines.
type Access interface {
	// Rights returns the answers that are known. They are immutable.
	Rights() Rights
	// Resolve finds the answers about places that Rights did not know, so that
	// the next Rights knows them. An error ends the subscription with 1013
	// unless it is ctx's.
	Resolve(ctx context.Context, unknown []Place) error
	// Changed is closed when an answer has changed since Rights last returned:
	// what the subscriber has is then no longer what it should have.
	Changed() <-chan struct{}
}

// Rights are answers about places. Implementations are immutable.
type Rights interface {
	// Allowed tells whether vertices in a place may be seen, and whether that is
	// known. What is not known is not shown.
	Allowed(p Place) (allowed, known bool)
	// Digest is equal for rights that give equal answers wherever both know one,
	// and have done so since whatever was sent under the digest. Subscribers of
	// equal digest share encoded messages and may continue each other's
	// revisions.
	Digest() string
}
