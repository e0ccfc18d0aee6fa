package controllers

import (
	"fmt"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/graph"
)

// specOf says in the engine's words what a GraphView asks for. The only error
// is an arc type that the CustomResourceDefinition does not let through.
func specOf(in *v1alpha1.GraphViewSpec) (graphview.Spec, error) {
	out := graphview.Spec{
		Queries:            make([]graphview.Query, 0, len(in.Queries)),
		ServiceAccountName: in.ServiceAccountName,
	}
	for i := range in.Queries {
		out.Queries = append(out.Queries, queryOf(&in.Queries[i]))
	}
	if in.Namespaces != nil {
		out.Namespaces = namespacesOf(in.Namespaces)
	}
	// No expressions restrict nothing, so there are no roots to speak of.
	if in.Roots != nil && len(in.Roots.ObjectSelectorExpressions) > 0 {
		roots, err := rootsOf(in.Roots)
		if err != nil {
			return graphview.Spec{}, err
		}
		out.Roots = roots
	}
	return out, nil
}

func queryOf(in *v1alpha1.Query) graphview.Query {
	var out graphview.Query
	if in.Exclude != nil {
		out.Exclude = &graphview.Exclude{ResourceSelectorExpression: in.Exclude.ResourceSelectorExpression}
	}
	if in.Include != nil {
		out.Include = &graphview.Include{ResourceSelectorExpression: in.Include.ResourceSelectorExpression}
		if object := in.Include.Object; object != nil {
			out.Include.Object = graphview.ObjectFilter{
				LabelSelector:            object.LabelSelector,
				FieldSelector:            object.FieldSelector,
				ObjectSelectorExpression: object.ObjectSelectorExpression,
				JSONPath:                 object.JSONPath,
			}
		}
	}
	return out
}

func namespacesOf(in *v1alpha1.Namespaces) *graphview.Namespaces {
	out := &graphview.Namespaces{
		LabelSelector:            in.LabelSelector,
		FieldSelector:            in.FieldSelector,
		ObjectSelectorExpression: in.ObjectSelectorExpression,
	}
	for _, name := range in.Names {
		out.Names = append(out.Names, string(name))
	}
	return out
}

func rootsOf(in *v1alpha1.Roots) (*graphview.Roots, error) {
	out := &graphview.Roots{}
	for _, expression := range in.ObjectSelectorExpressions {
		out.ObjectSelectorExpressions = append(out.ObjectSelectorExpressions, string(expression))
	}
	for i, name := range in.IgnoreArcDirection {
		arcType, ok := graph.ParseArcType(string(name))
		if !ok {
			return nil, fmt.Errorf("spec.roots.ignoreArcDirection[%d]: unknown arc type %q, expected or, r or t", i, name)
		}
		out.IgnoreArcDirection = append(out.IgnoreArcDirection, arcType)
	}
	return out, nil
}
