package validation

import (
	"fmt"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// unsupported returns the error about a value at path that this version of the
// operator does not know. Its CustomResourceDefinition does not admit the value,
// but that of another version may have.
func unsupported(path, format string, args ...any) error {
	return &spec.InvalidError{
		Reason: v1alpha1.ReasonUnsupported,
		Errors: []error{fmt.Errorf("%s: "+format+"; change the spec, or upgrade the operator", append([]any{path}, args...)...)},
	}
}

// SpecOf converts a GraphView's spec into the engine's type. An error comes from
// unsupported.
func SpecOf(in *v1alpha1.GraphViewSpec) (spec.Spec, error) {
	out := spec.Spec{
		Queries:            make([]spec.Query, 0, len(in.Queries)),
		ServiceAccountName: in.ServiceAccountName,
	}
	for i := range in.Queries {
		out.Queries = append(out.Queries, queryOf(&in.Queries[i]))
	}
	switch in.InferredReferences {
	case "", v1alpha1.IncludeInferred:
	case v1alpha1.ExcludeInferred:
		out.ExcludeInferred = true
	default:
		return spec.Spec{}, unsupported("spec.inferredReferences", "must be Include or Exclude, is %q", in.InferredReferences)
	}
	if in.Namespaces != nil {
		out.Namespaces = namespacesOf(in.Namespaces)
	}
	// Roots without objects and expressions restrict nothing.
	if in.Roots != nil && len(in.Roots.Objects)+len(in.Roots.ObjectSelectorExpressions) > 0 {
		roots, err := rootsOf(in.Roots)
		if err != nil {
			return spec.Spec{}, err
		}
		out.Roots = roots
	}
	return out, nil
}

func queryOf(in *v1alpha1.Query) spec.Query {
	var out spec.Query
	if in.Exclude != nil {
		out.Exclude = &spec.Exclude{ResourceSelectorExpression: in.Exclude.ResourceSelectorExpression}
	}
	if in.Include != nil {
		out.Include = &spec.Include{ResourceSelectorExpression: in.Include.ResourceSelectorExpression}
		if object := in.Include.Object; object != nil {
			out.Include.Object = spec.ObjectFilter{
				LabelSelector:            object.LabelSelector,
				FieldSelector:            object.FieldSelector,
				ObjectSelectorExpression: object.ObjectSelectorExpression,
				JSONPath:                 object.JSONPath,
			}
			for name, path := range object.Fields {
				if out.Include.Object.Fields == nil {
					out.Include.Object.Fields = make(map[string]string, len(object.Fields))
				}
				out.Include.Object.Fields[name] = string(path)
			}
		}
	}
	return out
}

func namespacesOf(in *v1alpha1.Namespaces) *spec.Namespaces {
	out := &spec.Namespaces{
		LabelSelector:            in.LabelSelector,
		FieldSelector:            in.FieldSelector,
		ObjectSelectorExpression: in.ObjectSelectorExpression,
	}
	for _, name := range in.Names {
		out.Names = append(out.Names, string(name))
	}
	return out
}

func rootsOf(in *v1alpha1.Roots) (*spec.Roots, error) {
	out := &spec.Roots{}
	for i := range in.Objects {
		o := &in.Objects[i]
		out.Objects = append(out.Objects, spec.RootObject{
			Group: o.Group, Kind: o.Kind, Namespace: string(o.Namespace), Name: o.Name, LabelSelector: o.LabelSelector,
			HelmRelease: string(o.HelmRelease), ArgoApplication: string(o.ArgoApplication),
			FluxKustomization: string(o.FluxKustomization), FluxHelmRelease: string(o.FluxHelmRelease),
		})
	}
	for _, expression := range in.ObjectSelectorExpressions {
		out.ObjectSelectorExpressions = append(out.ObjectSelectorExpressions, string(expression))
	}
	var err error
	if out.IgnoreArcDirection, err = arcTypesOf("spec.roots.ignoreArcDirection", in.IgnoreArcDirection); err != nil || in.Follow == nil {
		return out, err
	}
	direction, ok := graph.ParseDirection(string(in.Follow.Direction))
	switch {
	case !ok:
		return nil, unsupported("spec.roots.follow.direction", "unknown direction %q, expected Down, Up or Both", in.Follow.Direction)
	case len(in.IgnoreArcDirection) > 0:
		return nil, unsupported("spec.roots", "follow and ignoreArcDirection exclude each other")
	case in.Follow.Depth < 0 || in.Follow.Depth > graph.MaxDepth:
		return nil, unsupported("spec.roots.follow.depth", "must be between 0 and %d", graph.MaxDepth)
	}
	types, err := arcTypesOf("spec.roots.follow.types", in.Follow.Types)
	out.Follow = &spec.Follow{Direction: direction, Depth: int(in.Follow.Depth), Types: types}
	return out, err
}

func arcTypesOf(path string, names []v1alpha1.ArcType) ([]graph.ArcType, error) {
	var types []graph.ArcType
	for i, name := range names {
		arcType, ok := graph.ParseArcType(string(name))
		if !ok {
			return nil, unsupported(fmt.Sprintf("%s[%d]", path, i), "unknown reference type %q, expected or, r or t", name)
		}
		types = append(types, arcType)
	}
	return types, nil
}
