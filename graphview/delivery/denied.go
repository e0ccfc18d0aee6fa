package delivery

import (
	"fmt"
	"maps"
	"slices"

	"graphview.dev/graphview/access"
)

// maxNamedNamespaces is how many namespaces a spec may name for ACCESS_DENIED warnings to
// name namespaces: each of them takes a question about rights.
const maxNamedNamespaces = 8

// warningBytes is about the memory of one warning.
const warningBytes = 300

// warningSet are warnings that depend on the subscriber. It is immutable, and compared as
// a pointer.
type warningSet struct {
	generation uint64 // of the Scope that the warnings are about
	warnings   map[WarningID]Warning
}

// since compares the set with the one that the subscriber has, nil for none.
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

// bytes is about the memory of the set, nil included.
func (s *warningSet) bytes() int {
	if s == nil {
		return 0
	}
	return warningBytes * len(s.warnings)
}

// deniedTo returns the ACCESS_DENIED warnings of a viewer: one for each resource that the
// view selects and the viewer may not read, whether or not there are objects of it. They
// are made once for all viewers of a slot, so that equal states stay equal. It returns nil
// if rights are unknown.
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
		made = other // made at the same time
	}
	old, at.denied = at.denied, made
	at.mu.Unlock()
	p.changes.count(at, made.bytes()-old.bytes())
	return made
}

// deniedWarnings are those about the resources of a scope.
func deniedWarnings(g *gate, scope Scope) map[WarningID]Warning {
	denied := make(map[WarningID]Warning)
	for _, r := range scope.Resources {
		if !r.Namespaced || scope.Namespaces == nil || len(scope.Namespaces) > maxNamedNamespaces {
			if g.lets(access.Place{Group: r.Group, Resource: r.Resource.Resource}) {
				continue
			}
			w := Warning{Type: AccessDenied, Message: resourceText(r.Resource) + " is left out: you may not list and watch it"}
			if r.Namespaced {
				w.Message = resourceText(r.Resource) + " is left out of every namespace where you may not list and watch it"
			}
			w.Attributes = AttributesOf(r.Resource, "", "")
			denied[w.ID()] = w
			continue
		}
		for namespace := range scope.Namespaces {
			if g.lets(access.Place{Group: r.Group, Resource: r.Resource.Resource, Namespace: namespace}) {
				continue
			}
			w := Warning{Type: AccessDenied, Message: fmt.Sprintf("%s in %s is left out: you may not list and watch it there", resourceText(r.Resource), namespace)}
			w.Attributes = AttributesOf(r.Resource, namespace, "")
			denied[w.ID()] = w
		}
	}
	return limited(denied)
}
