package workload

import (
	"fmt"
	"strings"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/oracle"
)

// Spec is an oracle's view as the engine wants it.
func Spec(v oracle.View) (spec.Spec, error) {
	var out spec.Spec
	for _, q := range v.Queries {
		var query spec.Query
		if q.Include != nil {
			query.Include = &spec.Include{
				ResourceSelectorExpression: q.Include.ResourceSelectorExpression,
				Object:                     spec.ObjectFilter(q.Include.Object),
			}
		}
		if q.Exclude != nil {
			query.Exclude = &spec.Exclude{ResourceSelectorExpression: q.Exclude.ResourceSelectorExpression}
		}
		out.Queries = append(out.Queries, query)
	}
	if v.Namespaces != nil {
		namespaces := spec.Namespaces(*v.Namespaces)
		out.Namespaces = &namespaces
	}
	if r := v.Roots; r != nil {
		out.Roots = &spec.Roots{ObjectSelectorExpressions: r.ObjectSelectorExpressions}
		for _, name := range r.IgnoreArcDirection {
			typ, ok := graph.ParseArcType(name)
			if !ok {
				return out, fmt.Errorf("unknown arc type %q", name)
			}
			out.Roots.IgnoreArcDirection = append(out.Roots.IgnoreArcDirection, typ)
		}
		if f := r.Follow; f != nil {
			direction, ok := graph.ParseDirection(strings.ToLower(f.Direction))
			if !ok {
				return out, fmt.Errorf("unknown direction %q", f.Direction)
			}
			out.Roots.Follow = &spec.Follow{Direction: direction, Depth: f.Depth}
			for _, name := range f.Types {
				typ, ok := graph.ParseArcType(name)
				if !ok {
					return out, fmt.Errorf("unknown arc type %q", name)
				}
				out.Roots.Follow.Types = append(out.Roots.Follow.Types, typ)
			}
		}
	}
	return out, nil
}
