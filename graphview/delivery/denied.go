package delivery

import (
	"fmt"
	"maps"
	"slices"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/graph"
)

// MaxNamedNamespaces is the number of namespaces in a spec up to which ACCESS_DENIED warnings name
// namespaces. Each of them takes an access review.
const MaxNamedNamespaces = 8

// warningBytes is the approximate memory of one warning.
const warningBytes = 300

// warningSet has the warnings that depend on a subscriber's rights or roots. It is immutable, and
// compared as a pointer.
type warningSet struct {
	generation uint64 // of the Scope that the warnings are about
	warnings   map[WarningID]Warning
}

// since returns the difference from the set that the subscriber has, nil for none.
func (s *warningSet) since(before *warningSet) (set, cleared []Warning) {
	var old map[WarningID]Warning
	if before != nil {
		old = before.warnings
	}
	for _, id := range slices.SortedFunc(maps.Keys(old), WarningID.compare) {
		if _, still := s.warnings[id]; !still {
			w := old[id]
			w.Message = ""
			cleared = append(cleared, w)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.warnings), WarningID.compare) {
		if w := s.warnings[id]; old[id].Message != w.Message {
			set = append(set, w)
		}
	}
	return set, cleared
}

// bytes is the approximate memory of the set, which may be nil.
func (s *warningSet) bytes() int {
	if s == nil {
		return 0
	}
	return warningBytes * len(s.warnings)
}

// deniedTo returns the ACCESS_DENIED warnings of a viewer: one for each resource that the view
// selects and the viewer may not read, so that the warnings do not reveal whether objects exist.
// All viewers of a slot get the same set, so that equal states stay equal. It is nil if rights are
// unknown.
func (p *Publisher) deniedTo(who viewer, g *gate) *warningSet {
	scope := p.source.Scope()
	who.narrow = "" // rights do not depend on it
	at := p.changes.slot(who.digest())
	at.mu.Lock()
	old := at.denied
	at.mu.Unlock()
	if old != nil && old.generation == scope.Generation {
		return old
	}
	made := &warningSet{generation: scope.Generation, warnings: deniedWarnings(g, scope)}
	if !g.knowsAll() {
		return nil
	}
	at.mu.Lock()
	if other := at.denied; other != old && other.generation == made.generation {
		made = other // another viewer was as fast
	}
	old, at.denied = at.denied, made
	at.mu.Unlock()
	p.changes.count(at, made.bytes()-old.bytes())
	return made
}

// deniedWarnings returns the warnings about the resources of a scope.
func deniedWarnings(g *gate, scope Scope) map[WarningID]Warning {
	denied := make(map[WarningID]Warning)
	for _, r := range scope.Resources {
		if !r.Namespaced || scope.Namespaces == nil || len(scope.Namespaces) > MaxNamedNamespaces {
			if g.lets(access.Place{Group: r.Group, Resource: r.Resource.Resource}) {
				continue
			}
			w := Denied(r.Resource, r.Namespaced, "")
			denied[w.ID()] = w
			continue
		}
		for namespace := range scope.Namespaces {
			if g.lets(access.Place{Group: r.Group, Resource: r.Resource.Resource, Namespace: namespace}) {
				continue
			}
			w := Denied(r.Resource, true, namespace)
			denied[w.ID()] = w
		}
	}
	return limited(denied)
}

// Denied returns the warning that a viewer may not list and watch a resource: in one namespace or, if
// that is empty, wherever the viewer has no right.
func Denied(r graph.Resource, namespaced bool, namespace string) Warning {
	w := Warning{Type: AccessDenied, Attributes: AttributesOf(r, namespace, "")}
	switch {
	case namespace != "":
		w.Message = fmt.Sprintf("%s in %s is left out: you may not list and watch it there", resourceText(r), namespace)
	case namespaced:
		w.Message = resourceText(r) + " is left out of every namespace where you may not list and watch it"
	default:
		w.Message = resourceText(r) + " is left out: you may not list and watch it"
	}
	return w
}
