package spec

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
)

// Program is the compiled spec of a GraphView, or of a request on a connection. It is immutable and may be shared.
type Program struct {
	Spec    v1alpha1.GraphViewSpec
	Queries []QueryProgram
	// Namespaces is nil for all namespaces.
	Namespaces *NamespaceProgram
	Roots      []Root
	// Walk is the way from the roots to the visible objects.
	Walk graph.Walk
}

// QueryProgram is a compiled v1alpha1.Query.
type QueryProgram struct {
	Include  bool
	Resource *expr.ResourceSelector
	// Filter is the text of the query's ObjectFilter, or "", for comparisons. The fields after it
	// are the compiled filter, nil or "" for parts that the query does not set.
	Filter string
	Labels labels.Selector
	Fields string // canonical
	Object *expr.ObjectSelector
	Parts  Parts
}

// Parts finds the parts of an object that subscribers get. It is an *expr.JSONPath or *expr.Fields.
type Parts interface {
	Find(ctx context.Context, in *expr.Input) ([]byte, error)
	FindIn(object map[string]any) ([]byte, error)
}

// Member returns the name of the field in the spec that selects the parts.
func Member(p Parts) string {
	if Named(p) {
		return "fields"
	}
	return "jsonPath"
}

// Named reports whether the parts have names.
func Named(p Parts) bool {
	_, named := p.(*expr.Fields)
	return named
}

// NamespaceProgram is a compiled v1alpha1.Namespaces. Nil selects all namespaces.
type NamespaceProgram struct {
	// Names is nil for any.
	Names map[string]bool
	// Labels and Fields are canonical, "" for any.
	Labels, Fields string
	Object         *expr.ObjectSelector
}

// Selective reports whether the selection depends on the Namespace objects, not only on names.
func (n *NamespaceProgram) Selective() bool {
	return n != nil && (n.Labels != "" || n.Fields != "" || n.Object != nil)
}

// Named returns the names, sorted, nil if the spec names no namespaces.
func (n *NamespaceProgram) Named() []string {
	if n == nil || n.Names == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.Names))
}

// Whole reports whether the view has all objects of its resources in its namespaces: it has no roots, and
// no query selects among objects.
func (p *Program) Whole() bool {
	return !p.Rooted() && !slices.ContainsFunc(p.Queries, func(q QueryProgram) bool { return q.Labels != nil || q.Fields != "" || q.Object != nil })
}

// Choose returns the first query that matches a resource, and reports whether that query includes
// the resource. It calls charge with the cost of each evaluation, in units of package expr. decided
// is false if no query matches, or if charge refuses or ctx ends before one does.
func (p *Program) Choose(ctx context.Context, r expr.Resource, charge func(cost uint64) (granted bool)) (query int, include, decided bool, err error) {
	defer panics.Recover(&err)
	for i := range p.Queries {
		if ctx.Err() != nil {
			return 0, false, false, nil
		}
		matches, cost, err := p.Queries[i].Resource.Matches(ctx, r)
		granted := charge(cost)
		switch {
		case err != nil:
			return 0, false, false, fmt.Errorf("spec.queries[%d]: %w", i, err)
		case matches:
			return i, p.Queries[i].Include, true, nil
		case !granted:
			return 0, false, false, nil
		}
	}
	return 0, false, false, nil
}

// Rooted reports whether only objects that roots reach are visible.
func (p *Program) Rooted() bool { return len(p.Roots) > 0 }
