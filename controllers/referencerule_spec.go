package controllers

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// ruleOf says in the engine's words what a ReferenceRule declares. An error is
// unsupported.
func ruleOf(in *v1alpha1.ReferenceRuleSpec) (spec.Rule, error) {
	out := spec.Rule{From: graph.Kind(in.From)}
	for i := range in.References {
		r := &in.References[i]
		reference := spec.RuleReference{Path: r.Path, NamespacePath: r.NamespacePath, Expression: r.Expression}
		if r.To != nil {
			reference.To = graph.Kind(*r.To)
		}
		if r.Type != "" {
			var ok bool
			if reference.Type, ok = graph.ParseArcType(string(r.Type)); !ok {
				return spec.Rule{}, unsupported(fmt.Sprintf("spec.references[%d].type", i), "unknown arc type %q, expected r or t", r.Type)
			}
		}
		out.References = append(out.References, reference)
	}
	if in.Health != nil {
		out.Health = in.Health.Expression
	}
	return out, nil
}

// setRuleConditions makes conditions say what the verdict means for the spec of
// that generation.
func setRuleConditions(conditions *[]metav1.Condition, generation int64, v verdict) {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, ObservedGeneration: generation, Reason: reason,
			Message: cutRunes(message, v1alpha1.MaxConditionMessage),
		})
	}
	if v.accepted() {
		set(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v.reason, "The rule is in force.")
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
		return
	}
	set(v1alpha1.ConditionAccepted, metav1.ConditionFalse, v.reason, v.message)
	set(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNotAccepted, "The rule is not accepted: see the condition Accepted.")
}

func sameConditions(a, b []metav1.Condition) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.Condition) bool { return a == b })
}
