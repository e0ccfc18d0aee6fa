package graphview

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// need is one watch that a view needs, and what for. Needs are compared: one
// that stays the same keeps its tap.
type need struct {
	resource resources.Resource
	key      watch.Key
	// query is the index of the query that selected the resource, and filter
	// what it says; roots are the view's. For the watch of namespaces they are
	// -1, what the spec says of namespaces, and their names.
	query  int
	filter ObjectFilter
	roots  string
}

// outline is what a view needs at one moment.
type outline struct {
	needed   map[need]bool
	selected []resources.Resource
	without  []denied
	// within are the namespaces to which a resource is restricted, beyond what
	// the spec says, by what may be read.
	within map[resources.Resource]map[string]bool
	// listed are the resources of which it depends on which namespaces there are
	// what the view has of them; unlisted says why that cannot be known.
	listed   []resources.Resource
	unlisted string
	// open: which namespaces there are is not known yet, so there may be more.
	open bool
	// errs are about queries that cannot be evaluated.
	errs []error
}

// outline derives from what the cluster serves, and from what may be read,
// which watches the view needs.
func (v *View) outline(ctx context.Context, p *Program, catalog *resources.Catalog) outline {
	chosen, cost, errs := p.selectFrom(ctx, catalog)
	v.engine.counts.cost.Add(cost)
	o := outline{needed: make(map[need]bool), within: make(map[resources.Resource]map[string]bool), errs: errs}
	roots := ""
	if p.spec.Roots != nil {
		roots = strings.Join(p.spec.Roots.ObjectSelectorExpressions, "\x00")
	}
	v.noteBlindness(ctx, p, &o)
	for _, s := range chosen {
		o.selected = append(o.selected, s.Resource)
		q := &p.queries[s.Query]
		n := need{resource: s.Resource, query: s.Query, filter: q.filter, roots: roots, key: watch.Key{
			Resource:      schema.GroupVersionResource{Group: s.Resource.Group, Version: s.Resource.Version, Resource: s.Resource.Resource},
			FieldSelector: q.fields,
		}}
		if q.labels != nil {
			n.key.LabelSelector = q.labels.String()
		}
		r := v.reach(ctx, p, s.Resource, n.key.Resource)
		if r.denied != nil {
			o.without = append(o.without, *r.denied)
		}
		if r.within != nil {
			o.within[s.Resource] = r.within
		}
		if r.list || s.Resource.Namespaced && p.namespaces.selective() {
			o.listed = append(o.listed, s.Resource)
		}
		for _, space := range r.spaces {
			n.key.Namespace = space
			o.needed[n] = true
			if also, ok := n.releases(); ok {
				o.needed[also] = true
			}
		}
	}
	switch {
	case len(o.listed) == 0:
		v.scope = nil
	case !v.blind:
		o.needed[namespaceNeed(p)] = true
		_, known := v.selectedNamespaces(p)
		o.open = !known
	}
	return o
}

// noteBlindness finds out whether what feeds the view may read the namespaces
// that its spec selects by what they are: if not, expressions about them would
// tell of what is not to be known, and none is selected.
func (v *View) noteBlindness(ctx context.Context, p *Program, o *outline) {
	v.blind = false
	permit, who := v.permitOf(p)
	if permit == nil || !p.namespaces.selective() {
		return
	}
	n := namespaceNeed(p)
	ok, err := permit(ctx, n.key.Resource, "")
	if v.blind = !ok || err != nil; v.blind {
		d := denied{resource: n.resource, who: who, err: err}
		o.without, o.unlisted = append(o.without, d), d.message()
	}
}

// byKey orders needs, those of a resource before what they take along.
func byKey(a, b need) int { return strings.Compare(a.key.String(), b.key.String()) }

// overlaps tells whether two needs may bring the same objects.
func (n need) overlaps(o need) bool {
	return n.key.Namespace == o.key.Namespace || n.key.Namespace == "" || o.key.Namespace == ""
}

// namespaceNeed is the watch that tells which namespaces there are, of those
// that the spec selects.
func namespaceNeed(p *Program) need {
	n := need{query: -1, resource: resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}}
	n.key.Resource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if p.namespaces != nil {
		n.key.LabelSelector, n.key.FieldSelector = p.namespaces.labels, p.namespaces.fields
		n.filter.ObjectSelectorExpression = p.spec.Namespaces.ObjectSelectorExpression
		n.roots = strings.Join(p.spec.Namespaces.Names, ",")
	}
	return n
}
