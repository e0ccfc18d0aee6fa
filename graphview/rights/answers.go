package rights

import (
	"iter"
	"maps"

	"graphview.dev/graphview/access"
)

// answers has the known answers by resource and then by namespace: a user with few rights asks
// about many namespaces of a few resources, and a namespace alone takes a third of the memory
// of a place.
//
// Questions about wider places come first, in this order: everything, a resource in all namespaces, all
// resources of a namespace, a resource in a namespace. A narrower place is asked about only if the answer
// about the wider one is no.
type answers map[access.Place]map[string]bool

// everything is the place that stands for all resources in all namespaces, as "*" does in a
// SubjectAccessReview.
var everything = access.Place{Group: "*", Resource: "*"}

// allOf is the place that stands for all resources of p's namespace.
func allOf(p access.Place) access.Place {
	return access.Place{Group: "*", Resource: "*", Namespace: p.Namespace}
}

// everywhere is the place that stands for all namespaces of p's resource.
func everywhere(p access.Place) access.Place {
	return access.Place{Group: p.Group, Resource: p.Resource}
}

// wider are the places to ask about for a place, in this order.
var wider = [...]func(access.Place) access.Place{
	func(access.Place) access.Place { return everything }, everywhere, allOf,
	func(p access.Place) access.Place { return p },
}

func (a answers) get(p access.Place) (allowed, known bool) {
	allowed, known = a[everywhere(p)][p.Namespace]
	return allowed, known
}

// implied reports whether a yes about a wider place includes p.
func (a answers) implied(p access.Place) bool {
	for _, wider := range [...]access.Place{everything, everywhere(p), allOf(p)} {
		if allowed, _ := a.get(wider); allowed && wider != p {
			return true
		}
	}
	return false
}

// allowed reports whether p is allowed, and whether that is known.
func (a answers) allowed(p access.Place) (allowed, known bool) {
	if a.implied(p) {
		return true, true
	}
	if _, known := a.get(everywhere(p)); !known {
		return false, false
	}
	return a.get(p)
}

func (a answers) set(p access.Place, allowed bool) {
	of := a[everywhere(p)]
	if of == nil {
		of = make(map[string]bool)
		a[everywhere(p)] = of
	}
	of[p.Namespace] = allowed
}

// all returns the places with their answers, in no order.
func (a answers) all() iter.Seq2[access.Place, bool] {
	return func(yield func(access.Place, bool) bool) {
		for p, of := range a {
			for p.Namespace = range of {
				if !yield(p, of[p.Namespace]) {
					return
				}
			}
		}
	}
}

// places returns the places with an answer, in no order.
func (a answers) places() []access.Place {
	places := make([]access.Place, 0, a.len())
	for p := range a.all() {
		places = append(places, p)
	}
	return places
}

func (a answers) len() int {
	n := 0
	for _, of := range a {
		n += len(of)
	}
	return n
}

// retain drops the answers about other places, and frees their memory.
func (a answers) retain(keep func(access.Place) bool) {
	for p, of := range a {
		before := len(of)
		maps.DeleteFunc(of, func(namespace string, _ bool) bool {
			return !keep(access.Place{Group: p.Group, Resource: p.Resource, Namespace: namespace})
		})
		switch {
		case len(of) == 0:
			delete(a, p)
		case len(of) < before:
			a[p] = maps.Clone(of)
		}
	}
}
