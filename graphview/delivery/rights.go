package delivery

import (
	"context"
	"fmt"
	"slices"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

// Access has the current rights of one subscriber. Its methods are safe for concurrent use. The server's
// Access is rights.Lease.
type Access interface {
	// Rights returns the rights that are known now.
	Rights() Rights
	// Resolve reviews the places that Rights did not know. The next Rights knows them. An error
	// other than that of ctx ends the subscription with the reason Unavailable.
	Resolve(ctx context.Context, unknown []access.Place) error
	// Changed returns a channel that is closed when a right has changed since Rights last
	// returned. The subscriber may then be reset.
	Changed() <-chan struct{}
}

// Rights say which places a subscriber may see. Implementations are immutable.
type Rights interface {
	// Allowed reports whether vertices in a place may be seen, and whether that is known. Vertices
	// in unknown places are hidden. For a namespaced resource, the place without a namespace
	// stands for all namespaces.
	Allowed(p access.Place) (allowed, known bool)
	// Digest is equal for rights that know the same places and give equal answers about each, and
	// have done so since the first message under the digest. Subscribers with equal digests share
	// encoded messages and may resume from each other's revisions.
	Digest() string
}

func digestOf(r Rights) string {
	if r == nil {
		return ""
	}
	return r.Digest()
}

// unknownError lists the places for which rights must be resolved before the next message to a
// subscriber.
type unknownError struct{ places []access.Place }

func (e *unknownError) Error() string {
	return fmt.Sprintf("rights in %d places are not known", len(e.places))
}

// gate checks the rights of a subscriber during one read, and collects the places whose rights are
// unknown. Nil Rights allow everything.
type gate struct {
	rights  Rights
	unknown map[access.Place]struct{}
	last    access.Place // cached, since most elements are in the place of the one before
	asked   bool
	allowed bool
}

func newGate(r Rights) *gate { return &gate{rights: r, unknown: make(map[access.Place]struct{})} }

func (g *gate) allows(p access.Place) bool {
	if g.rights == nil {
		return true
	}
	if g.asked && p == g.last {
		return g.allowed
	}
	allowed, known := g.rights.Allowed(p)
	if !known {
		g.unknown[p] = struct{}{}
	}
	g.last, g.allowed, g.asked = p, allowed && known, true
	return g.allowed
}

// allowsObject is allows for the place of an object.
func (g *gate) allowsObject(key graph.Key) bool {
	return g.allows(access.Place{Group: key.Group, Resource: key.Resource.Resource, Namespace: key.Namespace})
}

// allow returns the Allow of a graph.Reading, nil if everything is allowed.
func (g *gate) allow() func(graph.Resource, string) bool {
	if g.rights == nil {
		return nil
	}
	return func(r graph.Resource, namespace string) bool {
		return g.allows(access.Place{Group: r.Group, Resource: r.Resource, Namespace: namespace})
	}
}

// permitted returns the warnings that a subscriber may see, and overwrites the list. A warning that
// names an object or a namespace is only for subscribers that may see its place. But if the spec names
// the namespace, a warning about a resource in it is for all subscribers.
func (g *gate) permitted(list []Warning, named map[string]bool) []Warning {
	return slices.DeleteFunc(list, func(w Warning) bool {
		a := w.Attributes
		if w.place == nil || a.Name == "" && (a.Namespace == "" || a.Group != nil && named[a.Namespace]) {
			return false
		}
		return !g.allows(*w.place)
	})
}

// knowsAll reports whether all rights have been known so far.
func (g *gate) knowsAll() bool { return len(g.unknown) == 0 }

// err returns an *unknownError if rights are unknown.
func (g *gate) err() error {
	if len(g.unknown) == 0 {
		return nil
	}
	e := &unknownError{}
	for p := range g.unknown {
		e.places = append(e.places, p)
	}
	return e
}
