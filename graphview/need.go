package graphview

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// maxNamespaceWatches is up to how many named namespaces a resource is watched
// in each of them; beyond, one watch of all namespaces that drops what is
// foreign costs less.
const maxNamespaceWatches = 8

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

// denied is a resource that the view's ServiceAccount may not read.
type denied struct {
	resource resources.Resource
	account  string
	// namespaces that are denied; empty for all.
	namespaces []string
	err        error
}

// needs derives from what the cluster serves which watches the view needs. The
// errors are about queries that cannot be evaluated.
func (v *View) needs(ctx context.Context, p *Program, catalog *resources.Catalog) (needed map[need]bool, without []denied, selected []resources.Resource, errs []error) {
	chosen, errs := p.selectFrom(catalog)
	needed = make(map[need]bool)
	roots := ""
	if p.spec.Roots != nil {
		roots = strings.Join(p.spec.Roots.ObjectSelectorExpressions, "\x00")
	}
	for _, s := range chosen {
		selected = append(selected, s.Resource)
		q := &p.queries[s.Query]
		n := need{resource: s.Resource, query: s.Query, filter: q.filter, roots: roots, key: watch.Key{
			Resource:      schema.GroupVersionResource{Group: s.Resource.Group, Version: s.Resource.Version, Resource: s.Resource.Resource},
			FieldSelector: q.fields,
		}}
		if q.labels != nil {
			n.key.LabelSelector = q.labels.String()
		}
		spaces, d := v.permitted(ctx, p, s.Resource, n.key.Resource)
		if d != nil {
			without = append(without, *d)
		}
		for _, space := range spaces {
			n.key.Namespace = space
			needed[n] = true
		}
	}
	if p.namespaces.selective() {
		r := resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"}
		n := need{resource: r, query: -1, key: watch.Key{
			Resource:      schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
			LabelSelector: p.namespaces.labels, FieldSelector: p.namespaces.fields,
		}}
		n.filter.ObjectSelectorExpression = p.spec.Namespaces.ObjectSelectorExpression
		n.roots = strings.Join(p.spec.Namespaces.Names, ",")
		needed[n] = true
	}
	return needed, without, selected, errs
}

// permitted is in which namespaces a resource is watched for the view: "" alone
// stands for all, and for a cluster-scoped resource.
func (v *View) permitted(ctx context.Context, p *Program, r resources.Resource, gvr schema.GroupVersionResource) ([]string, *denied) {
	spaces := []string{""}
	var names []string
	if r.Namespaced && p.namespaces != nil && p.namespaces.names != nil {
		names = slices.Sorted(maps.Keys(p.namespaces.names))
		if len(names) <= maxNamespaceWatches {
			spaces = names
		}
	}
	if p.spec.ServiceAccountName == "" {
		return spaces, nil
	}
	account := Name{v.name.Namespace, p.spec.ServiceAccountName}
	may := func(namespace string) (bool, error) {
		if v.engine.o.Permit == nil {
			return false, fmt.Errorf("this server cannot decide for service accounts")
		}
		return v.engine.o.Permit(ctx, account, gvr, namespace)
	}
	// All namespaces first: whoever may read them all needs one answer.
	ok, err := may("")
	switch {
	case err != nil:
		return nil, &denied{resource: r, account: account.Name, err: err}
	case ok:
		return spaces, nil
	case names == nil:
		return nil, &denied{resource: r, account: account.Name}
	}
	var granted, refused []string
	for _, name := range names {
		ok, err := may(name)
		if err != nil {
			return nil, &denied{resource: r, account: account.Name, err: err}
		}
		if ok {
			granted = append(granted, name)
		} else {
			refused = append(refused, name)
		}
	}
	if len(refused) > 0 {
		return granted, &denied{resource: r, account: account.Name, namespaces: refused}
	}
	return granted, nil
}
