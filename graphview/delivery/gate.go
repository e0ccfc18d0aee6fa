package delivery

import (
	"fmt"
	"slices"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

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
