package graphview

import (
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/configmaps"
)

var (
	widgetKind = graph.Kind{Group: "example.com", Kind: "Widget"}
	gadgetKind = graph.Kind{Group: "example.com", Kind: "Gadget"}
)

// TestInvalidRule: a rule that is refused takes the earlier one of its name out of force.
func TestInvalidRule(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 0)})
	declared := v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind), References: []v1alpha1.ReferenceDeclaration{{Path: "spec.a", To: new(v1alpha1.GroupKind(gadgetKind))}}}
	if err := e.ApplyRule(t.Context(), "a", declared); err != nil || e.rules.Named("a") == nil {
		t.Fatalf("the rule is not in force: %v", err)
	}
	declared.References = []v1alpha1.ReferenceDeclaration{{Path: "spec.a", NamespacePath: "spec.b[]", To: new(v1alpha1.GroupKind(gadgetKind))}}
	if err := e.ApplyRule(t.Context(), "a", declared); err == nil || e.rules.Named("a") != nil {
		t.Errorf("the rule before is in force, error %v", err)
	}
}
