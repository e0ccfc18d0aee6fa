package graphview

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

const (
	// maxNamespaceWatches is up to how many namespaces a resource is watched in
	// each of them; beyond, one watch of all that drops what is foreign costs
	// less.
	maxNamespaceWatches = 8
	// usualWatches is how many watches in single namespaces a view should have: one
	// that selects many resources gets fewer of each.
	usualWatches = 200
	// maxFallbackWatches bounds the watches of one resource where the operator
	// may not watch it in all namespaces at once.
	maxFallbackWatches = 256
)

// watchesEach is up to how many namespaces each of so many resources is watched
// in one by one.
func watchesEach(resources int) int {
	return min(max(usualWatches/max(resources, 1), 1), maxNamespaceWatches)
}

// placement is where a resource is to be watched for a view.
type placement struct {
	// namespaces to watch it in: "" alone stands for all, and for a cluster-scoped
	// resource.
	namespaces []string
	// within restricts what is taken from a watch of all namespaces.
	within map[string]bool
	denied *denied
	// probe is a watch of all namespaces that is tried besides, nil for none.
	probe *watch.Key
	// shared is the watch of all namespaces that is used because views share it; nil
	// if it is the view's own.
	shared *watch.Key
	// list: it depends on which namespaces there are.
	list bool
}

// denied is a resource that the view may not be fed with, at least in part.
type denied struct {
	resource resources.Resource
	who      string
	// namespaces that are named and denied; partly: others are.
	namespaces []string
	partly     bool
	// err is why it is not known who may, or which bound does not allow it.
	err error
}

// maxDeniedNames is how many namespaces a message names.
const maxDeniedNames = 8

func (d *denied) message() string {
	exceeded, limited := errors.AsType[*budget.Exceeded](d.err)
	switch {
	case limited:
		return "left out: " + exceeded.Error()
	case d.err != nil:
		return fmt.Sprintf("whether %s may list and watch it is not known: %s", d.who, delivery.Bounded(d.err.Error()))
	case len(d.namespaces) > maxDeniedNames:
		return fmt.Sprintf("%s may not list and watch it in %s and %d more namespaces",
			d.who, strings.Join(d.namespaces[:maxDeniedNames], ", "), len(d.namespaces)-maxDeniedNames)
	case len(d.namespaces) > 0:
		return fmt.Sprintf("%s may not list and watch it in %s", d.who, strings.Join(d.namespaces, ", "))
	case d.partly:
		return d.who + " may not list and watch it in all namespaces"
	default:
		return d.who + " may not list and watch it"
	}
}

// place decides where a resource is watched: as widely as the spec says and as
// rights allow, in as few watches as that takes. A resource whose rights are not
// known yet is watched nowhere. wide is the watch of all namespaces that the view
// would have by itself.
func (p *planner) place(r resources.Resource, wide watch.Key) placement {
	all, err := p.allowed(access.Place{Group: r.Group, Resource: r.Resource})
	switch {
	case err != nil:
		return placement{denied: &denied{resource: r, who: p.who, err: err}}
	case all == answerUnknown:
		return placement{}
	case !r.Namespaced && all == answerNo:
		return placement{denied: &denied{resource: r, who: p.who}}
	case !r.Namespaced:
		return placement{namespaces: []string{""}}
	}
	names := p.program.Namespaces.Named()
	if all == answerYes && !p.refused[r] {
		if names != nil && len(names) <= p.each {
			return p.placeShared(r, wide, placement{namespaces: names})
		}
		return p.placeClusterWide(r, wide, placement{})
	}

	// Not everywhere at once: find out where.
	out := placement{list: names == nil}
	if names == nil {
		names = slices.Sorted(maps.Keys(p.situation.namespaces))
	}
	// What the view would not have by itself, it does not try by itself either.
	few := !out.list && len(names) <= p.each
	if p.refused[r] && !few {
		out.probe = p.refusedProbe(r, wide)
	}
	granted := names
	if all == answerNo {
		granted, out.denied = p.grant(r, names)
		if d := out.denied; d != nil && d.err == nil && out.list {
			d.partly, d.namespaces = len(granted) > 0, nil
		}
	}
	everywhere := !p.refused[r] && len(granted) > p.each
	if everywhere || out.probe != nil && all == answerNo {
		out.within = setOfNames(granted)
	}
	switch {
	case everywhere:
		return p.placeClusterWide(r, wide, out)
	case !p.refused[r] || few:
		out.namespaces = granted
		return p.placeShared(r, wide, out)
	case len(granted) <= maxFallbackWatches:
		out.namespaces = granted
	default:
		out.denied = &denied{resource: r, who: "the operator", err: fmt.Errorf(
			"it may not watch all namespaces at once, and there are more than %d to watch one by one", maxFallbackWatches)}
	}
	return out
}

// grant splits namespaces into those where a resource may be read and, in the
// denied, the others. One that is not known yet is in neither.
func (p *planner) grant(r resources.Resource, names []string) (granted []string, refused *denied) {
	for _, name := range names {
		may, err := p.allowed(access.Place{Group: r.Group, Resource: r.Resource, Namespace: name})
		switch {
		case may == answerYes:
			granted = append(granted, name)
			continue
		case may == answerUnknown && err == nil:
			continue
		case refused == nil:
			refused = &denied{resource: r, who: p.who, err: err}
		}
		if err == nil {
			refused.namespaces = append(refused.namespaces, name)
		} else {
			refused.err = err
		}
	}
	return granted, refused
}

func setOfNames(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
