package delivery

import (
	"context"

	"graphview.dev/graphview/access"
)

// Access is what one subscriber may see, as it stands now. Its methods may be
// called by several goroutines.
type Access interface {
	// Rights returns the answers that are known. They are immutable.
	Rights() Rights
	// Resolve finds the answers about places that Rights did not know, so that
	// the next Rights knows them. An error ends the subscription with Unavailable
	// unless it is ctx's.
	Resolve(ctx context.Context, unknown []access.Place) error
	// Changed is closed when an answer has changed since Rights last returned:
	// what the subscriber has is then no longer what it should have.
	Changed() <-chan struct{}
}

// Rights are answers about places. Implementations are immutable.
type Rights interface {
	// Allowed tells whether vertices in a place may be seen, and whether that is
	// known. What is not known is not shown. Of a resource that has namespaces, the
	// place without one stands for all of them.
	Allowed(p access.Place) (allowed, known bool)
	// Digest is equal for rights that know the same places and give equal answers
	// about each, and have done so since whatever was sent under the digest.
	// Subscribers of equal digest share encoded messages and may continue each
	// other's revisions.
	Digest() string
}

// Recalled are Rights that can say which places they know.
type Recalled interface {
	// Places are in no order. They are not to be changed.
	Places() []access.Place
}

func digestOf(r Rights) string {
	if r == nil {
		return ""
	}
	return r.Digest()
}
