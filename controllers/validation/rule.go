package validation

import (
	"fmt"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// RuleOf converts a ReferenceRule into the engine's type. An error comes from
// unsupported.
func RuleOf(in *v1alpha1.ReferenceRuleSpec) (spec.Rule, error) {
	out := spec.Rule{From: graph.Kind(in.From)}
	for i := range in.References {
		r := &in.References[i]
		reference := spec.RuleReference{Path: r.Path, NamespacePath: r.NamespacePath, Expression: r.Expression, Word: r.Word}
		if r.To != nil {
			reference.To = graph.Kind(*r.To)
		}
		if r.Type != "" {
			var ok bool
			if reference.Type, ok = graph.ParseArcType(string(r.Type)); !ok {
				return spec.Rule{}, unsupported(fmt.Sprintf("spec.references[%d].type", i), "unknown reference type %q, expected r or t", r.Type)
			}
		}
		out.References = append(out.References, reference)
	}
	switch in.Conventions {
	case "", v1alpha1.ConventionsKeep:
	case v1alpha1.ConventionsReplace:
		out.ReplaceConventions = true
	default:
		return spec.Rule{}, unsupported("spec.conventions", "unknown policy %q, expected Keep or Replace", in.Conventions)
	}
	if in.Health != nil {
		out.Health = in.Health.Expression
	}
	return out, nil
}
