package graphview

import (
	"fmt"
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// unknownError lists the places about which a subscriber's rights have to be
// known before it can be sent anything.
type unknownError struct{ places []Place }

func (e *unknownError) Error() string {
	return fmt.Sprintf("rights in %d places are not known", len(e.places))
}

// gate lets through what a subscriber may see during one read, and notes which
// answers are missing. A nil Rights lets everything through.
type gate struct {
	rights  Rights
	unknown map[Place]struct{}
	last    Place // most elements are of the place of the one before
	allowed bool
}

func newGate(r Rights) *gate { return &gate{rights: r, unknown: make(map[Place]struct{})} }

func (g *gate) lets(p Place) bool {
	if g.rights == nil {
		return true
	}
	if p == g.last {
		return g.allowed
	}
	allowed, known := g.rights.Allowed(p)
	if !known {
		g.unknown[p] = struct{}{}
	}
	g.last, g.allowed = p, allowed && known
	return g.allowed
}

// allow is the gate as the graph asks it, nil where it is open to everything.
func (g *gate) allow() func(graph.Resource, string) bool {
	if g.rights == nil {
		return nil
	}
	return func(r graph.Resource, namespace string) bool {
		return g.lets(Place{Group: r.Group, Resource: r.Resource, Namespace: namespace})
	}
}

// permitted keeps the warnings that a subscriber may have. One that names an
// object, be it a namespace, is for those who may see it; one about a resource in
// a namespace also for all where the spec names that.
func (g *gate) permitted(list []warning, named map[string]bool) []warning {
	return slices.DeleteFunc(list, func(w warning) bool {
		a := w.Attributes
		if w.resource == nil || a.Name == "" && (a.Namespace == "" || a.Group != nil && named[a.Namespace]) {
			return false
		}
		return !g.lets(Place{Group: w.resource.Group, Resource: w.resource.Resource, Namespace: w.namespace})
	})
}

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

// denial is what is withheld under one digest of rights.
type denial struct {
	rev      uint64 // of the lens's places
	ids      string
	warnings map[string]warning
}

// denials returns the ACCESS_DENIED warnings that became true since a
// subscriber was told those with the ids before, the ones that ceased to be,
// and the present ids.
func (e *encoder) denials(lens *graph.Lens, g *gate, before string) (set, cleared []warning, now string) {
	digest := g.rights.Digest()
	e.deniedMu.Lock()
	defer e.deniedMu.Unlock()
	d := e.denied[digest]
	if d == nil {
		d = &denial{rev: ^uint64(0)}
	}
	named := e.view.namedNamespaces()
	found := make(map[string]warning)
	rev := lens.VisitPlaces(d.rev, func(r graph.Resource, namespace string) {
		if g.lets(Place{Group: r.Group, Resource: r.Resource, Namespace: namespace}) {
			return
		}
		w := warning{Type: "ACCESS_DENIED", Message: name(r) + " is left out: you may not list and watch it"}
		w.Attributes = attributes{Group: &r.Group, Version: r.Version, Resource: r.Resource}
		if named[namespace] {
			w.Attributes.Namespace = namespace
			w.Message = fmt.Sprintf("%s in %s is left out: you may not list and watch it there", name(r), namespace)
		}
		found[w.id()] = w
	})
	if len(g.unknown) > 0 {
		return nil, nil, before
	}
	if rev != d.rev {
		ids := make([]string, 0, len(found))
		for id := range found {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		d = &denial{rev: rev, ids: strings.Join(ids, "\n"), warnings: found}
		if len(e.denied) >= maxDigests {
			clear(e.denied)
		}
		e.denied[digest] = d
	}
	if d.ids == before {
		return nil, nil, before
	}
	told := make(map[string]bool)
	for id := range strings.SplitSeq(before, "\n") {
		told[id] = true
		if _, still := d.warnings[id]; id != "" && !still {
			cleared = append(cleared, warningOf(id))
		}
	}
	for id := range strings.SplitSeq(d.ids, "\n") {
		if id != "" && !told[id] {
			set = append(set, d.warnings[id])
		}
	}
	return set, cleared, d.ids
}

// warningOf is the inverse of warning.id, for warnings about a resource.
func warningOf(id string) warning {
	parts := strings.Split(id, "\x00")
	return warning{Type: parts[0], Attributes: attributes{Group: &parts[1], Version: parts[2], Resource: parts[3], Namespace: parts[4], Name: parts[5]}}
}

func name(r graph.Resource) string {
	return strings.TrimPrefix(r.Group+"/"+r.Version+"/"+r.Resource, "/")
}

// namedNamespaces are those that the spec names.
func (v *View) namedNamespaces() map[string]bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.program == nil || v.program.namespaces == nil {
		return nil
	}
	return v.program.namespaces.names
}
