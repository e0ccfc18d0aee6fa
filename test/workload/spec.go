package workload

import (
	"encoding/json"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/oracle"
)

// Spec converts an oracle's view into the engine's type, by way of a GraphView's spec.
func Spec(v oracle.View) (spec.Spec, error) {
	var declared v1alpha1.GraphViewSpec
	if err := convert(v, &declared); err != nil {
		return spec.Spec{}, err
	}
	return validation.SpecOf(&declared)
}

// Rule converts an oracle's rule into the engine's type.
func Rule(r oracle.Rule) (spec.Rule, error) {
	var declared v1alpha1.ReferenceRuleSpec
	if err := convert(r.Spec, &declared); err != nil {
		return spec.Rule{}, err
	}
	return validation.RuleOf(&declared)
}

// convert converts a value into another type with the same JSON.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
