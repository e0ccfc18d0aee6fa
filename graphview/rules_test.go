package graphview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

var (
	widgetKind = graph.Kind{Group: "example.com", Kind: "Widget"}
	gadgetKind = graph.Kind{Group: "example.com", Kind: "Gadget"}
)

// TestRulesRevisions: only the kinds that a change concerns become stale, and get
// a revision that no other rules of the kind had.
func TestRulesRevisions(t *testing.T) {
	r := newRules()
	seen := map[uint64]bool{0: true}
	before := map[graph.Kind]uint64{}
	for _, step := range []struct {
		name, expression string
		kind             graph.Kind // none: the rule is removed
		want             map[graph.Kind]bool
	}{
		{name: "a", kind: widgetKind, want: map[graph.Kind]bool{widgetKind: false}},
		{name: "b", kind: gadgetKind, expression: "[]", want: map[graph.Kind]bool{gadgetKind: true}},
		{name: "a", kind: gadgetKind, want: map[graph.Kind]bool{widgetKind: false, gadgetKind: true}},
		{name: "b", want: map[graph.Kind]bool{gadgetKind: true}},
		{name: "b", want: map[graph.Kind]bool{}},
		{name: "a", want: map[graph.Kind]bool{gadgetKind: false}},
		{name: "a", kind: widgetKind, want: map[graph.Kind]bool{widgetKind: false}},
	} {
		var p *rule
		if step.kind.Kind != "" {
			reference := spec.RuleReference{Path: "spec.a", To: widgetKind}
			if step.expression != "" {
				reference = spec.RuleReference{Expression: step.expression}
			}
			program, err := spec.CompileRule(t.Context(), spec.Rule{From: step.kind, References: []spec.RuleReference{reference}})
			if err != nil {
				t.Fatal(err)
			}
			p = &rule{RuleProgram: program, budget: full()}
		}
		r.declare(step.name, p)
		if diff := cmp.Diff(step.want, r.takeStale().kinds); diff != "" {
			t.Errorf("stale (-want +got):\n%s", diff)
		}
		now := r.current.Load()
		for _, kind := range []graph.Kind{widgetKind, gadgetKind} {
			revision := now.kinds[kind].revision
			_, touched := step.want[kind]
			if !touched && revision != before[kind] {
				t.Errorf("%s has a new revision though nothing of it changed", kind.Kind)
			}
			if touched && revision != 0 && seen[revision] {
				t.Errorf("%s has a revision that was there before", kind.Kind)
			}
			seen[revision], before[kind] = true, revision
		}
	}
}

// TestInvalidRule: a rule that is refused takes the earlier one of its name out of force.
func TestInvalidRule(t *testing.T) {
	e := startEngine(t, Options{Config: serveConfigMaps(t, 0)})
	declared := spec.Rule{From: widgetKind, References: []spec.RuleReference{{Path: "spec.a", To: gadgetKind}}}
	if err := e.ApplyRule(t.Context(), "a", declared); err != nil || e.rules.named("a") == nil {
		t.Fatalf("the rule is not in force: %v", err)
	}
	declared.References = []spec.RuleReference{{Path: "spec.a", NamespacePath: "spec.b[]", To: gadgetKind}}
	if err := e.ApplyRule(t.Context(), "a", declared); err == nil || e.rules.named("a") != nil {
		t.Errorf("the rule before is in force, error %v", err)
	}
}
