package graphview

import (
	"sync/atomic"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestRulesAreReread: a rule that comes, changes or goes changes the arcs of objects
// that do not change, and nothing else of them. Views evaluate only objects on which it fails.
func TestRulesAreReread(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 3)})
	var evaluated atomic.Int64
	tap := follow(t, e, func() bool { evaluated.Add(1); return true })
	patience.Await(t, "the list", func() bool { return tap.vertices() == 3 })
	before := evaluated.Load()
	arcs := func() int { return tap.view.lens.Counts().Arcs }
	rule := func(expression string) v1alpha1.ReferenceRuleSpec {
		return v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind{Kind: "ConfigMap"}, References: []v1alpha1.ReferenceDeclaration{{Expression: expression}}}
	}
	sets := e.intake.Counts.Sets.Load()
	for _, tt := range []struct {
		name, expression string
		want             int
	}{
		{"a rule", `name == 'c0' ? [] : [{'group': '', 'kind': 'ConfigMap', 'name': 'c0'}]`, 2},
		{"another one", `[{'group': '', 'kind': 'ConfigMap', 'name': 'c1'}, {'group': '', 'kind': 'ConfigMap', 'name': 'c2'}]`, 6},
	} {
		if err := e.ApplyRule(t.Context(), "rule", rule(tt.expression)); err != nil {
			t.Fatal(err)
		}
		patience.Await(t, tt.name, func() bool { return arcs() == tt.want })
	}
	e.RemoveRule("rule")
	patience.Await(t, "no rule", func() bool { return arcs() == 0 })
	if n := tap.vertices(); n != 3 {
		t.Errorf("%d vertices, want 3", n)
	}
	// The engine was not told of an object by its watch.
	if n := e.intake.Counts.Sets.Load() - sets; n != 9 {
		t.Errorf("objects were set %d times, want each once for each change of the rule", n)
	}
	if n := evaluated.Load() - before; n != 0 {
		t.Errorf("the view evaluated objects %d times, although its spec and the objects are the same", n)
	}
	if err := e.ApplyRule(t.Context(), "rule", rule(`name == 'c1' ? [] : [{'group': '', 'kind': 'ConfigMap', 'name': obj.data.none}]`)); err != nil {
		t.Fatal(err)
	}
	patience.Await(t, "warnings about the objects on which the rule fails", func() bool { return tap.view.warnings.Faults() == 2 })
	e.RemoveRule("rule")
	patience.Await(t, "no warnings without the rule", func() bool { return tap.view.warnings.Faults() == 0 })
	if n := evaluated.Load() - before; n != 4 {
		t.Errorf("the view evaluated objects %d times, want two objects twice", n)
	}
}
