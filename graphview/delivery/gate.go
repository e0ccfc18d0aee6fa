package delivery

import (
	"fmt"
	"slices"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

// unknownError lists the places about which a subscriber's rights have to be
// known before it can be sent anything.
type unknownError struct{ places []access.Place }

func (e *unknownError) Error() string {
	return fmt.Sprintf("rights in %d places are not known", len(e.places))
}

// gate lets through what a subscriber may see during one read, and notes which
// answers are missing. A nil Rights lets everything through.
type gate struct {
	rights  Rights
	unknown map[access.Place]struct{}
	last    access.Place // most elements are of the place of the one before
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

// allow is the gate as the graph asks it, nil where it is open to everything.
func (g *gate) allow() func(graph.Resource, string) bool {
	if g.rights == nil {
		return nil
	}
	return func(r graph.Resource, namespace string) bool {
		return g.lets(access.Place{Group: r.Group, Resource: r.Resource, Namespace: namespace})
	}
}

// permitted keeps the warnings that a subscriber may have. One that names an
// object, be it a namespace, is for those who may see it; one about a resource in
// a namespace also for all where the spec names that.
func (g *gate) permitted(list []Warning, named map[string]bool) []Warning {
	return slices.DeleteFunc(list, func(w Warning) bool {
		a := w.Attributes
		if w.place == nil || a.Name == "" && (a.Namespace == "" || a.Group != nil && named[a.Namespace]) {
			return false
		}
		return !g.lets(*w.place)
	})
}

// knowsAll tells whether no answer has been missing so far.
func (g *gate) knowsAll() bool { return len(g.unknown) == 0 }

// err is an *unknownError if answers are missing.
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
