package delivery

import (
	"context"

	"graphview.dev/graphview/access"
)

// Access has the current rights of one subscriber. Its methods may be called by several
// goroutines.
type Access interface {
	// Rights returns the rights that are known. They are immutable.
	Rights() Rights
	// Resolve reviews places that Rights did not know, so that the next Rights knows them. An
	// error ends the subscription with Unavailable unless it is ctx's.
	Resolve(ctx context.Context, unknown []access.Place) error
	// Changed is closed when a right has changed since Rights last returned. The subscriber's
	// graph may then have to be replaced.
	Changed() <-chan struct{}
}

// Rights answer which places a subscriber may see. Implementations are immutable.
type Rights interface {
	// Allowed reports whether vertices in a place may be seen, and whether that is known. Vertices
	// in unknown places are hidden. For a namespaced resource, the place without a namespace
	// stands for all namespaces.
	Allowed(p access.Place) (allowed, known bool)
	// Digest is equal for rights that know the same places and give equal answers about each, and
	// have done so since the first message under the digest. Subscribers of equal digest share
	// encoded messages and may resume each other's revisions.
	Digest() string
}

// EnumerableRights are Rights that can list the places that they know.
type EnumerableRights interface {
	// Places are in no order. The caller must not change them.
	Places() []access.Place
}

func digestOf(r Rights) string {
	if r == nil {
		return ""
	}
	return r.Digest()
}
