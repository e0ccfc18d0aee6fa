package workload

import (
	"fmt"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/oracle"
)

// Rule is an oracle's rule as the engine wants it.
func Rule(r oracle.Rule) (spec.Rule, error) {
	out := spec.Rule{From: graph.Kind(r.Spec.From), ReplaceConventions: r.Spec.Conventions == "Replace"}
	for _, d := range r.Spec.References {
		reference := spec.RuleReference{Path: d.Path, NamespacePath: d.NamespacePath, To: graph.Kind(d.To), Expression: d.Expression, Word: d.Word}
		if d.Type != "" {
			var ok bool
			if reference.Type, ok = graph.ParseArcType(d.Type); !ok {
				return out, fmt.Errorf("unknown arc type %q", d.Type)
			}
		}
		out.References = append(out.References, reference)
	}
	return out, nil
}
