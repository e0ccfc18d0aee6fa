package workload

import (
	"fmt"
	"strings"

	"graphview.dev/graphview"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/oracle"
)

// Spec is an oracle's view as the engine wants it.
func Spec(v oracle.View) (graphview.Spec, error) {
	var spec graphview.Spec
	for _, q := range v.Queries {
		var out graphview.Query
		if q.Include != nil {
			out.Include = &graphview.Include{
				ResourceSelectorExpression: q.Include.ResourceSelectorExpression,
				Object:                     graphview.ObjectFilter(q.Include.Object),
			}
		}
		if q.Exclude != nil {
			out.Exclude = &graphview.Exclude{ResourceSelectorExpression: q.Exclude.ResourceSelectorExpression}
		}
		spec.Queries = append(spec.Queries, out)
	}
	if v.Namespaces != nil {
		namespaces := graphview.Namespaces(*v.Namespaces)
		spec.Namespaces = &namespaces
	}
	if r := v.Roots; r != nil {
		spec.Roots = &graphview.Roots{ObjectSelectorExpressions: r.ObjectSelectorExpressions}
		for _, name := range r.IgnoreArcDirection {
			typ, ok := graph.ParseArcType(name)
			if !ok {
				return spec, fmt.Errorf("unknown arc type %q", name)
			}
			spec.Roots.IgnoreArcDirection = append(spec.Roots.IgnoreArcDirection, typ)
		}
		if f := r.Follow; f != nil {
			direction, ok := graph.ParseDirection(strings.ToLower(f.Direction))
			if !ok {
				return spec, fmt.Errorf("unknown direction %q", f.Direction)
			}
			spec.Roots.Follow = &graphview.Follow{Direction: direction, Depth: f.Depth}
			for _, name := range f.Types {
				typ, ok := graph.ParseArcType(name)
				if !ok {
					return spec, fmt.Errorf("unknown arc type %q", name)
				}
				spec.Roots.Follow.Types = append(spec.Roots.Follow.Types, typ)
			}
		}
	}
	return spec, nil
}
