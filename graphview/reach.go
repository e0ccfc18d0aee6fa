package graphview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/resources"
)

const (
	// maxNamespaceWatches is up to how many namespaces a resource is watched in
	// each of them; beyond, one watch of all that drops what is foreign costs
	// less.
	maxNamespaceWatches = 8
	// maxFallbackWatches bounds the watches of one resource where the operator
	// may not watch it in all namespaces at once.
	maxFallbackWatches = 256
)

// Permit tells whether somebody may list and watch a resource in a namespace,
// "" for all namespaces and for cluster-scoped resources.
type Permit func(ctx context.Context, resource schema.GroupVersionResource, namespace string) (bool, error)

// reach is where a resource is to be watched for a view.
type reach struct {
	// spaces to watch it in: "" alone stands for all, and for a cluster-scoped
	// resource.
	spaces []string
	// within restricts what is taken from a watch of all namespaces.
	within map[string]bool
	denied *denied
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
	err        error
}

func (d *denied) message() string {
	switch {
	case d.err != nil:
		return fmt.Sprintf("whether %s may list and watch it is not known: %s", d.who, bounded(d.err.Error()))
	case len(d.namespaces) > 0:
		return fmt.Sprintf("%s may not list and watch it in %s", d.who, strings.Join(d.namespaces, ", "))
	case d.partly:
		return d.who + " may not list and watch it in all namespaces"
	default:
		return d.who + " may not list and watch it"
	}
}

// reach decides where a resource is watched: as widely as the spec says and as
// rights allow, in as few watches as that takes.
func (v *View) reach(ctx context.Context, p *Program, r resources.Resource, gvr schema.GroupVersionResource) reach {
	if !r.Namespaced {
		return v.reachCluster(ctx, p, r, gvr)
	}
	permit, who := v.permitOf(p)
	all := permit == nil
	if !all {
		ok, err := permit(ctx, gvr, "")
		if err != nil {
			return reach{denied: &denied{resource: r, who: who, err: err}}
		}
		all = ok
	}
	names := p.namespaces.named()
	if all && !v.refused[r] {
		if names != nil && len(names) <= maxNamespaceWatches {
			return reach{spaces: names}
		}
		return reach{spaces: []string{""}}
	}

	// Not everywhere at once: find out where.
	out := reach{list: names == nil}
	if names == nil {
		set, _ := v.selectedNamespaces(p)
		names = slices.Sorted(maps.Keys(set))
	}
	granted := names
	if !all {
		var err error
		if granted, out.denied, err = v.grant(ctx, permit, gvr, names); err != nil {
			return reach{list: out.list, denied: &denied{resource: r, who: who, err: err}}
		}
		if d := out.denied; d != nil {
			d.resource, d.who = r, who
			if out.list {
				d.partly, d.namespaces = len(granted) > 0, nil
			}
		}
	}
	switch {
	case len(granted) <= maxNamespaceWatches:
		out.spaces = granted
	case !v.refused[r]:
		out.spaces, out.within = []string{""}, make(map[string]bool, len(granted))
		for _, name := range granted {
			out.within[name] = true
		}
	case len(granted) <= maxFallbackWatches:
		out.spaces = granted
	default:
		out.denied = &denied{resource: r, who: "the operator", err: fmt.Errorf(
			"it may not watch all namespaces at once, and there are more than %d to watch one by one", maxFallbackWatches)}
	}
	return out
}

func (v *View) reachCluster(ctx context.Context, p *Program, r resources.Resource, gvr schema.GroupVersionResource) reach {
	permit, who := v.permitOf(p)
	if permit == nil {
		return reach{spaces: []string{""}}
	}
	switch ok, err := permit(ctx, gvr, ""); {
	case err != nil:
		return reach{denied: &denied{resource: r, who: who, err: err}}
	case !ok:
		return reach{denied: &denied{resource: r, who: who}}
	}
	return reach{spaces: []string{""}}
}

// grant splits namespaces into those where a resource may be read and, in the
// denied, the others.
func (v *View) grant(ctx context.Context, permit Permit, gvr schema.GroupVersionResource, names []string) (granted []string, refused *denied, err error) {
	for _, name := range names {
		ok, err := permit(ctx, gvr, name)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			granted = append(granted, name)
		case refused == nil:
			refused = &denied{namespaces: []string{name}}
		default:
			refused.namespaces = append(refused.namespaces, name)
		}
	}
	return granted, refused, nil
}

// permitOf is what restricts what the view is fed with, nil for nothing, and
// whose rights those are, as warnings call them.
func (v *View) permitOf(p *Program) (Permit, string) {
	if v.permit != nil {
		return v.permit, "you"
	}
	account := p.spec.ServiceAccountName
	if account == "" {
		return nil, ""
	}
	who := "service account " + account
	if v.engine.o.Permit == nil {
		return func(context.Context, schema.GroupVersionResource, string) (bool, error) {
			return false, errors.New("this server cannot decide for service accounts")
		}, who
	}
	return func(ctx context.Context, gvr schema.GroupVersionResource, namespace string) (bool, error) {
		return v.engine.o.Permit(ctx, Name{v.name.Namespace, account}, gvr, namespace)
	}, who
}

// named are the namespaces that the spec names, sorted, nil if it names none.
func (n *namespaceProgram) named() []string {
	if n == nil || n.names == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.names))
}
