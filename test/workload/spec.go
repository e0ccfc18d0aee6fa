package workload

import (
	"encoding/json"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/oracle"
)

// Spec converts an oracle's view into a GraphView's spec.
func Spec(v oracle.View) (declared v1alpha1.GraphViewSpec, err error) {
	return declared, convert(v, &declared)
}

// Rule converts an oracle's rule into a ReferenceRule's spec.
func Rule(r oracle.Rule) (declared v1alpha1.ReferenceRuleSpec, err error) {
	return declared, convert(r.Spec, &declared)
}

// convert converts a value into another type with the same JSON.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
