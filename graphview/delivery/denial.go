package delivery

import (
	"fmt"
	"maps"
	"slices"

	"graphview.dev/graphview/access"
)

// maxNamed is how many namespaces a spec may name for its subscribers to be told in
// which of them they may not read a resource. Rights in each have to be asked about.
const maxNamed = 8

// denial is what is withheld under one digest of rights. It is immutable.
type denial struct {
	scope    uint64 // generation
	warnings map[WarningID]Warning
}

// denials returns the ACCESS_DENIED warnings that became true since a subscriber was
// sent those of the denial before, the ones that ceased to be, and the present
// denial.
//
// They say nothing of what there is: each resource that the view selects has one
// where the subscriber may not read it, whether or not there are objects of it.
func (p *Publisher) denials(g *gate, before *denial) (set, cleared []Warning, now *denial) {
	now = p.denialOf(g)
	if len(g.unknown) > 0 || now == before {
		return nil, nil, before
	}
	set, cleared = now.since(before)
	return set, cleared, now
}

// since compares with an earlier denial, nil for none.
func (d *denial) since(before *denial) (set, cleared []Warning) {
	var old map[WarningID]Warning
	if before != nil {
		old = before.warnings
	}
	for _, id := range slices.SortedFunc(maps.Keys(old), WarningID.compare) {
		if _, still := d.warnings[id]; !still {
			w := old[id]
			w.Message = ""
			cleared = append(cleared, w)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(d.warnings), WarningID.compare) {
		if w := d.warnings[id]; old[id].Message != w.Message {
			set = append(set, w)
		}
	}
	return set, cleared
}

// denialOf is the one that all have who have the same rights. It is another one only
// where it says something else.
func (p *Publisher) denialOf(g *gate) *denial {
	digest, scope := g.rights.Digest(), p.source.Scope()
	p.deniedMu.Lock()
	known := p.denied[digest]
	p.deniedMu.Unlock()
	if known != nil && known.scope == scope.Generation {
		return known
	}
	made := &denial{scope: scope.Generation, warnings: denied(g, scope)}
	if len(g.unknown) > 0 {
		return nil
	}
	p.deniedMu.Lock()
	defer p.deniedMu.Unlock()
	if len(p.denied) >= maxViewers {
		clear(p.denied)
	}
	p.denied[digest] = made
	return made
}

// denied are the warnings about the resources of a scope.
func denied(g *gate, scope Scope) map[WarningID]Warning {
	found := make(map[WarningID]Warning)
	for _, r := range scope.Resources {
		if !r.Namespaced || scope.Namespaces == nil || len(scope.Namespaces) > maxNamed {
			if g.lets(access.Place{Group: r.Group, Resource: r.Resource.Resource}) {
				continue
			}
			w := Warning{Type: AccessDenied, Message: resourceText(r.Resource) + " is left out: you may not list and watch it"}
			if r.Namespaced {
				w.Message = resourceText(r.Resource) + " is left out of every namespace where you may not list and watch it"
			}
			w.Attributes = AttributesOf(r.Resource, "", "")
			found[w.ID()] = w
			continue
		}
		for namespace := range scope.Namespaces {
			if g.lets(access.Place{Group: r.Group, Resource: r.Resource.Resource, Namespace: namespace}) {
				continue
			}
			w := Warning{Type: AccessDenied, Message: fmt.Sprintf("%s in %s is left out: you may not list and watch it there", resourceText(r.Resource), namespace)}
			w.Attributes = AttributesOf(r.Resource, namespace, "")
			found[w.ID()] = w
		}
	}
	return limited(found)
}
