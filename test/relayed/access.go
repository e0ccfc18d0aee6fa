package relayed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

// Everything is the access of a user that may see everything. It reveals one place after
// the other, because a holder sends only places that it has been asked for.
func Everything() delivery.Access { return &everything{known: places{}, never: make(chan struct{})} }

type everything struct {
	never chan struct{}

	mu    sync.Mutex
	known places
}

func (e *everything) Rights() delivery.Rights {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known
}

func (e *everything) Changed() <-chan struct{} { return e.never }

func (e *everything) Resolve(_ context.Context, unknown []access.Place) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = maps.Clone(e.known)
	for _, place := range unknown {
		e.known[access.Place{Group: place.Group, Resource: place.Resource}] = true
	}
	return nil
}

// places are the places that were asked for.
type places map[access.Place]bool

func (p places) Allowed(place access.Place) (allowed, known bool) {
	known = p[access.Place{Group: place.Group, Resource: place.Resource}]
	return known, known
}

// Digest is of the places that are known.
func (p places) Digest() string {
	known := make([]string, 0, len(p))
	for place := range p {
		known = append(known, fmt.Sprint(place))
	}
	slices.Sort(known)
	return strings.Join(known, ";")
}

func (p places) Places() []access.Place { return slices.Collect(maps.Keys(p)) }
