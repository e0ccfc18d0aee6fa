package rules

import (
	"context"
	"testing"
	"time"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/spec"
)

// TestLateExpressions: a caller that does not wait gets no references if the expressions cost more
// than a turn together. A caller that waits gets all, and waits once for all.
func TestLateExpressions(t *testing.T) {
	const cheap, costly = "[{'group': '', 'kind': 'ConfigMap', 'name': 'a'}]", "lists.range(5000).exists(i, i < 0) ? [] : [{'group': '', 'kind': 'ConfigMap', 'name': 'b'}]"
	const halved = "lists.range(500).exists(i, i < 0) ? [] : [{'group': '', 'kind': 'ConfigMap', 'name': 'c'}]"
	for _, c := range []struct {
		name        string
		health      string
		expressions []string
		late        bool
		turns       int
	}{
		{"one that costs little", "", []string{cheap}, false, 0},
		{"one that costs much", "", []string{cheap, costly}, true, 1},
		{"several that cost much", "", []string{costly, costly, costly}, true, 2},
		{"several that cost much together", "", []string{halved, halved, halved, halved, halved, halved}, true, 1},
		{"a costly health", "lists.range(5000).exists(i, i < 0) ? {'state': 'ok'} : {'state': 'degraded'}", []string{cheap}, true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			declared := v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind)}
			if c.health != "" {
				declared.Health = &v1alpha1.HealthDeclaration{Expression: c.health}
			}
			for _, e := range c.expressions {
				declared.References = append(declared.References, v1alpha1.ReferenceDeclaration{Expression: e})
			}
			program, err := spec.CompileRule(t.Context(), nil, declared)
			if err != nil {
				t.Fatal(err)
			}
			s := NewSet(func() {})
			s.Declare("rule", &Rule{RuleProgram: program, Budget: quota.NewBudget(budget.NewBuckets(1<<30, time.Minute).Bucket(Owner))})
			turns := 0
			waiting := func(context.Context) (func(), error) { turns++; return func() {}, nil }
			evaluate := func(turn expr.Turn) Outcome {
				return s.Current().Of(widgetKind).Evaluate(t.Context(), &expr.Input{Turn: turn}, false)
			}
			if out := evaluate(expr.Postpone); out.Late != c.late || out.HealthLate != (c.late && c.health != "") || c.late && out.Warning != nil {
				t.Errorf("without waiting: late %t, its health %t, warning %v", out.Late, out.HealthLate, out.Warning)
			}
			out := evaluate(waiting)
			if out.Late || out.Warning != nil || len(out.References) != len(c.expressions) || turns != c.turns {
				t.Errorf("late %t, warning %v, %d references of %d, %d turns, want %d", out.Late, out.Warning, len(out.References), len(c.expressions), turns, c.turns)
			}
			if c.health != "" && (out.Health == nil || out.Health.State != health.Degraded) {
				t.Errorf("health %v", out.Health)
			}
		})
	}
}
