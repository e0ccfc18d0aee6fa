package intake

import (
	"runtime"
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestCostlyRulesHoldUpNoChange: changes of objects with a costly rule come while no processor is free for
// the rule. Until it has been evaluated they have the reference and the health of the version before.
func TestCostlyRulesHoldUpNoChange(t *testing.T) {
	changed := make(chan string)
	w := start(t, configmaps.ServeChanges(t, 2, changed))
	const wait = "lists.range(5000).exists(i, i < 0) ? "
	program, err := spec.CompileRule(t.Context(), nil, v1alpha1.ReferenceRuleSpec{
		From:       v1alpha1.GroupKind{Kind: "ConfigMap"},
		Health:     &v1alpha1.HealthDeclaration{Expression: wait + "{'state': 'ok'} : {'state': has(obj.data) ? 'ok' : 'degraded'}"},
		References: []v1alpha1.ReferenceDeclaration{{Expression: wait + "[] : [{'group': '', 'kind': 'ConfigMap', 'name': 'at-' + obj.?data.at.orValue('first')}]"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.o.Rules.Declare("costly", &rules.Rule{RuleProgram: program, Budget: quota.NewBudget(w.budgets.Bucket(rules.Owner))})
	v, tap := w.follow(yes)
	tap.feed.awaitList(t)
	key := graph.Key{Resource: ResourceOf(configmaps.Resource), Namespace: "shop", Name: "c0"}
	sees := func(content, target string, state health.State) func() bool {
		return func() bool {
			at, ok := v.lens.Look(key, 2, graph.Reading{})
			judged, known := at.Vertex.Payload.(*delivery.Judged)
			if !ok || !known || len(at.Out) != 1 || at.Out[0].To.Name != target || judged.Health.State != state {
				return false
			}
			same := false
			if err := judged.ReadJSON(func(json []byte) error { same = strings.Contains(string(json), content); return nil }); err != nil {
				t.Error(err)
			}
			return same
		}
	}
	patience.Await(t, "the object of the list", sees("c0", "at-first", health.Degraded))

	// All processors for costly work are taken, so nothing costly ends.
	var turns []fairqueue.Turn
	for range min(4, max(1, runtime.GOMAXPROCS(0)-1)) {
		turn, err := w.o.Processors.Acquire(t.Context(), budget.NamespaceOwner("busy"))
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	for range 3 {
		changed <- "c0"
	}
	patience.Await(t, "changes beside a rule that waits", sees(`"at":"6"`, "at-first", health.Degraded))

	for _, turn := range turns {
		turn.Release()
	}
	w.evaluating.Go(func() { _ = w.Run(w.life) })
	patience.Await(t, "the reference of the newest version", sees(`"at":"6"`, "at-6", health.OK))
}
