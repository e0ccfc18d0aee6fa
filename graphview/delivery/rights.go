package delivery

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
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

// unknownError lists the places for which the rights of a subscriber must be resolved before it can be
// sent anything.
type unknownError struct{ places []access.Place }

func (e *unknownError) Error() string {
	return fmt.Sprintf("rights in %d places are not known", len(e.places))
}

// gate checks the rights of a subscriber during one read, and collects the places whose rights are
// unknown. Nil Rights allow everything.
type gate struct {
	rights  Rights
	unknown map[access.Place]struct{}
	last    access.Place // most elements are in the same place as the one before
	asked   bool
	allowed bool
}

func newGate(r Rights) *gate { return &gate{rights: r, unknown: make(map[access.Place]struct{})} }

func (g *gate) lets(p access.Place) bool {
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

// allow returns the gate as a graph.Reading takes it, nil if everything is allowed.
func (g *gate) allow() func(graph.Resource, string) bool {
	if g.rights == nil {
		return nil
	}
	return func(r graph.Resource, namespace string) bool {
		return g.lets(access.Place{Group: r.Group, Resource: r.Resource, Namespace: namespace})
	}
}

// permitted keeps the warnings that a subscriber may see. A warning that names an object or a
// namespace is for subscribers that may see it. A warning about a resource in a namespace is for all
// subscribers if the spec names the namespace.
func (g *gate) permitted(list []Warning, named map[string]bool) []Warning {
	return slices.DeleteFunc(list, func(w Warning) bool {
		a := w.Attributes
		if w.place == nil || a.Name == "" && (a.Namespace == "" || a.Group != nil && named[a.Namespace]) {
			return false
		}
		return !g.lets(*w.place)
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

// maxCachedRights limits the rights and places that are kept for all revisions, to about 10 MB. Beyond
// it, arbitrary ones are dropped. Their subscribers are reset if they reconnect by way of another
// replica.
const maxCachedRights = 200_000

// rightsCache has the places that were known to the rights of each revision. A revision can be resumed
// only under equal rights, and rights that know fewer places are not equal. If a subscriber
// reconnects by way of a replica that knows nothing about it yet, the same places are reviewed
// first.
type rightsCache struct {
	mu     sync.Mutex
	places map[uint32][]access.Place // by the hash of the digest of the rights
	count  int                       // of rights and places
}

// keep keeps the places that a viewer's rights know, for the revisions that it is sent.
func (r *rightsCache) keep(who viewer) {
	known, ok := who.rights.(EnumerableRights)
	if !ok {
		return
	}
	// The rest of the viewer, such as its roots, makes no difference to its rights.
	key := hash32(digestOf(who.rights))
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.places[key]; ok {
		return
	}
	places := known.Places()
	if 1+len(places) > maxCachedRights {
		return
	}
	r.count += 1 + len(places)
	for other, places := range r.places {
		if r.count <= maxCachedRights {
			break
		}
		delete(r.places, other)
		r.count -= 1 + len(places)
	}
	if r.places == nil {
		r.places = make(map[uint32][]access.Place)
	}
	r.places[key] = places
}

// missing returns an *unknownError if the rights of a revision knew places that the viewer's do not
// know.
func (r *rightsCache) missing(key uint32, who viewer) error {
	if who.rights == nil {
		return nil
	}
	r.mu.Lock()
	places := r.places[key]
	r.mu.Unlock()
	var unknown []access.Place
	for _, p := range places {
		if _, known := who.rights.Allowed(p); !known {
			unknown = append(unknown, p)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return &unknownError{places: unknown}
}
