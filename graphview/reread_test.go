package graphview

import (
	"testing"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
)

// TestRulesAreReread: a rule that comes, changes or goes changes the arcs of objects
// that do not change, and nothing else of them.
func TestRulesAreReread(t *testing.T) {
	e := startEngine(t, Options{Config: configmaps.Serve(t, 3)})
	tap := follow(t, e, yes)
	await(t, "the list", func() bool { return tap.vertices() == 3 })
	arcs := func() int { return tap.view.lens.Counts().Arcs }
	rule := func(expression string) spec.Rule {
		return spec.Rule{From: graph.Kind{Kind: "ConfigMap"}, References: []spec.RuleReference{{Expression: expression}}}
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
		await(t, tt.name, func() bool { return arcs() == tt.want })
	}
	e.RemoveRule("rule")
	await(t, "no rule", func() bool { return arcs() == 0 })
	if n := tap.vertices(); n != 3 {
		t.Errorf("%d vertices, want 3", n)
	}
	// The engine was not told of an object by its watch.
	if n := e.intake.Counts.Sets.Load() - sets; n != 9 {
		t.Errorf("objects were set %d times, want each once for each change of the rule", n)
	}
}
