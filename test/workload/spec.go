package workload

import (
	"encoding/json"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/oracle"
)

// Spec is an oracle's view as the engine wants it: as that of the GraphView which says it.
func Spec(v oracle.View) (spec.Spec, error) {
	var declared v1alpha1.GraphViewSpec
	if err := convert(v, &declared); err != nil {
		return spec.Spec{}, err
	}
	return validation.SpecOf(&declared)
}

// Rule is an oracle's rule as the engine wants it.
func Rule(r oracle.Rule) (spec.Rule, error) {
	var declared v1alpha1.ReferenceRuleSpec
	if err := convert(r.Spec, &declared); err != nil {
		return spec.Rule{}, err
	}
	return validation.RuleOf(&declared)
}

// convert reads as one type what another one writes as JSON.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
