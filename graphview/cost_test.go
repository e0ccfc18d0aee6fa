package graphview

import (
	"math"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/spec"
)

// TestBudgetOfAnOwner: authors do not fill a budget by what they do with GraphViews, and
// do not touch the budget of another namespace.
func TestBudgetOfAnOwner(t *testing.T) {
	type step struct {
		verb            string // apply, remove, refuse, open, or spend
		namespace, name string // or the user of a connection
		uid             string
	}
	for name, test := range map[string]struct {
		steps []step
		// want is what the last view has left, in hundredths.
		want int
	}{
		"a first view has all":               {steps: []step{{"apply", "shop", "flow", "1"}}, want: 100},
		"a view that spends":                 {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}}, want: 10},
		"deleted and created":                {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"remove", "shop", "flow", ""}, {"apply", "shop", "flow", "2"}}, want: 10},
		"created before its deletion":        {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"apply", "shop", "flow", "2"}}, want: 10},
		"edited":                             {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"apply", "shop", "flow", "1"}}, want: 10},
		"renamed":                            {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"remove", "shop", "flow", ""}, {"apply", "shop", "stream", "2"}}, want: 10},
		"another one beside it":              {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"apply", "shop", "stream", "2"}}, want: 10},
		"refused and mended":                 {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"refuse", "shop", "flow", "1"}, {"apply", "shop", "flow", "1"}}, want: 10},
		"a new view of another namespace":    {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"remove", "shop", "flow", ""}, {"apply", "bank", "flow", "2"}}, want: 100},
		"a connection of a user":             {steps: []step{{"open", "", "ann", ""}, {verb: "spend"}, {"open", "", "ann", ""}}, want: 10},
		"a connection of another user":       {steps: []step{{"open", "", "ann", ""}, {verb: "spend"}, {"open", "", "ben", ""}}, want: 100},
		"another account of the namespace":   {steps: []step{{"open", "", "system:serviceaccount:shop:a", ""}, {verb: "spend"}, {"open", "", "system:serviceaccount:shop:b", ""}}, want: 10},
		"an account of a view's namespace":   {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"open", "", "system:serviceaccount:shop:a", ""}}, want: 10},
		"a user of the name of a namespace":  {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"open", "", "shop", ""}}, want: 100},
		"two views spend the same budget":    {steps: []step{{"apply", "shop", "flow", "1"}, {"apply", "shop", "stream", "2"}, {verb: "spend"}, {"apply", "shop", "flow", "1"}}, want: 10},
		"a stranger's views come and go too": {steps: []step{{"apply", "shop", "flow", "1"}, {verb: "spend"}, {"apply", "bank", "flow", "2"}, {"remove", "bank", "flow", ""}, {"apply", "shop", "stream", "3"}}, want: 10},
	} {
		inBubble(t, name, func(t *testing.T, e *Engine) {
			var err error
			declared := selecting(v1alpha1.ObjectFilter{})
			var last *View
			for _, step := range test.steps {
				named := Name{step.namespace, step.name}
				switch step.verb {
				case "apply":
					toggleInferred(&declared)
					if err := e.Apply(t.Context(), named, step.uid, declared); err != nil {
						t.Fatal(err)
					}
					last, _ = e.View(named)
				case "remove":
					e.Remove(named)
				case "refuse":
					e.Refuse(named, step.uid, &spec.InvalidError{})
				case "open":
					if last, err = e.Open(t.Context(), OpenOptions{Spec: declared, Subscriber: person(step.name), Rights: grantAll()}); err != nil {
						t.Fatal(err)
					}
				case "spend":
					last.evaluator.Budget().Owner().Take(1 << 40 / 10 * 9)
				}
			}
			if left := hundredths(last.evaluator.Budget()); left != test.want {
				t.Errorf("%d %% of a budget are left, want %d", left, test.want)
			}
		})
	}
}

// inBubble runs a test of an engine that does not run, with a budget that no compilation uses up. No time passes, so
// nothing is refilled.
func inBubble(t *testing.T, name string, test func(t *testing.T, e *Engine)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e, err := NewEngine(Options{Config: &rest.Config{}, Budget: 1 << 40})
			if err != nil {
				t.Fatal(err)
			}
			test(t, e)
		})
	})
}

// hundredths returns the part of a budget that is left.
func hundredths(b *quota.Budget) int {
	return int(math.Round(100 * float64(b.Owner().Left()) / float64(b.Owner().Size())))
}

// TestBudgetOfRules: administrators do not fill the budget of ReferenceRules by what they
// do with them.
func TestBudgetOfRules(t *testing.T) {
	valid := v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind), References: []v1alpha1.ReferenceDeclaration{{Expression: "[]"}}}
	for name, between := range map[string]func(t *testing.T, e *Engine){
		"deleted": func(_ *testing.T, e *Engine) {
			e.RemoveRule("a")
		},
		"refused": func(t *testing.T, e *Engine) {
			if err := e.ApplyRule(t.Context(), "a", v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(widgetKind), References: []v1alpha1.ReferenceDeclaration{{Expression: "]"}}}); err == nil {
				t.Fatal("accepted")
			}
		},
		"edited": func(t *testing.T, e *Engine) {
			if err := e.ApplyRule(t.Context(), "a", v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(gadgetKind), References: valid.References}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		inBubble(t, name, func(t *testing.T, e *Engine) {
			for round, want := range []int{100, 10} {
				if err := e.ApplyRule(t.Context(), "a", valid); err != nil {
					t.Fatal(err)
				}
				b := e.rules.Named("a").Budget
				if left := hundredths(b); left != want {
					t.Errorf("round %d: %d %% of a budget are left, want %d", round, left, want)
				}
				b.Owner().Take(1 << 40 / 10 * 9)
				between(t, e)
			}
		})
	}
}
