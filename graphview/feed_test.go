package graphview

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

func yes() bool { return true }

// TestPanicIsTheObjectsWarning: a panic at one object, wherever that is, is a
// warning about this object in the views that it concerns. All others are as ever.
func TestPanicIsTheObjectsWarning(t *testing.T) {
	for name, test := range map[string]struct {
		// breakView and breakRules make one of three objects panic.
		breakView, breakRules bool
		wantVertices          int
		wantBystander         int
	}{
		"Nothing":    {wantVertices: 3, wantBystander: 0},
		"Expression": {breakView: true, wantVertices: 2, wantBystander: 0},
		"References": {breakRules: true, wantVertices: 3, wantBystander: 3},
	} {
		t.Run(name, func(t *testing.T) {
			e := startEngine(t, Options{Config: configmaps.Serve(t, 3)})
			if test.breakRules {
				program := &spec.RuleProgram{Rule: v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(intake.KindOf(configMapsResource))}, Expressions: []spec.RuleExpression{{}}}
				e.rules.Declare("broken", &rules.Rule{RuleProgram: program, Budget: e.newBudget(rules.Owner)})
			}
			var met atomic.Int32
			broken := follow(t, e, func() bool {
				if met.Add(1) == 2 && test.breakView {
					panic("hunter2")
				}
				return true
			})
			bystander := follow(t, e, yes)
			patience.Await(t, "all objects", func() bool { return broken.vertices() == test.wantVertices && bystander.vertices() == 3 })
			warned := func(t *followed) int {
				lines := t.view.warnings.Summary(false)
				if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "hunter2") }) {
					return -1
				}
				return t.view.warnings.Faults()
			}
			if got, want := warned(broken), 3-test.wantVertices+test.wantBystander; got != want {
				t.Errorf("%d objects with warnings, want %d", got, want)
			}
			if got := warned(bystander); got != test.wantBystander {
				t.Errorf("%d objects with warnings in the other view, want %d", got, test.wantBystander)
			}
			if got := e.processors.Panics(); (got > 0) != (test.breakView || test.breakRules) {
				t.Errorf("%d panics counted", got)
			}
		})
	}
}

// TestSlowViewDelaysNoOtherView: while the expressions of one view take their time,
// another view of the same watch sees what changes, and the slow one has what is
// current in the end.
func TestSlowViewDelaysNoOtherView(t *testing.T) {
	changed := make(chan string)
	e := startEngine(t, Options{Config: configmaps.ServeChanges(t, 2, changed)})
	fast := follow(t, e, yes)
	patience.Await(t, "the list", func() bool { return fast.vertices() == 2 })

	var evaluated atomic.Int32
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	compiled, err := spec.Compile(t.Context(), nil, selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: costly}))
	if err != nil {
		t.Fatal(err)
	}
	slow, shown := followBy(t, e, &spec.QueryProgram{Object: compiled.Queries[0].Object, Labels: &labelled{matches: func() bool {
		if evaluated.Add(1) > 2 {
			entered <- struct{}{}
			<-leave
		}
		return true
	}}})
	<-shown
	patience.Await(t, "the list", func() bool { return slow.vertices() == 2 && slow.ready(slow.state()) })

	changed <- "x"
	<-entered
	for _, name := range []string{"y", "y", "y", "z"} {
		changed <- name
	}
	patience.Await(t, "what changed", func() bool { return fast.vertices() == 5 })
	if got := slow.vertices(); got != 2 {
		t.Errorf("the slow view has %d objects while it evaluates, want the 2 it had", got)
	}
	close(leave)
	patience.Await(t, "what changed, in the slow view", func() bool { return slow.vertices() == 5 })
	if got := evaluated.Load(); got != 2+3 {
		t.Errorf("evaluated %d times, want each object once", got)
	}
}

// TestSlowReplayDelaysNoOtherView: a view that begins, and takes its time over what there
// is, does not keep another from what changes.
func TestSlowReplayDelaysNoOtherView(t *testing.T) {
	changed := make(chan string)
	e := startEngine(t, Options{Config: configmaps.ServeChanges(t, 2, changed)})
	fast := follow(t, e, yes)
	patience.Await(t, "the list", func() bool { return fast.vertices() == 2 })
	var first atomic.Bool
	slow := follow(t, e, func() bool {
		if first.CompareAndSwap(false, true) {
			changed <- "c0"
			changed <- "x"
			patience.Await(t, "what changed", func() bool { return fast.vertices() == 3 })
		}
		return true
	})
	patience.Await(t, "all objects", func() bool { return slow.vertices() == 3 })
}

// smallBudget is less than the maximum that is charged at once: a greater charge exceeds a budget
// and takes nothing.
const smallBudget = quota.MaxCost

// TestRuleBudget: a rule whose expressions cost too much names no references any
// more, with a warning, until it is tried again.
func TestRuleBudget(t *testing.T) {
	costly := v1alpha1.ReferenceRuleSpec{From: v1alpha1.GroupKind(intake.KindOf(configMapsResource)), References: []v1alpha1.ReferenceDeclaration{
		{Expression: "lists.range(1000).all(i, i >= 0) ? [{'group': '', 'kind': 'ConfigMap', 'name': 'other'}] : []"},
	}}
	t.Run("exceeded", func(t *testing.T) {
		e := startEngine(t, Options{Config: configmaps.Serve(t, 3), Budget: 2000})
		if err := e.ApplyRule(t.Context(), "costly", costly); err != nil {
			t.Fatal(err)
		}
		followed := follow(t, e, yes)
		warned := followed.view.warnings.Faults
		patience.Await(t, "a warning for each object after the first", func() bool { return followed.vertices() == 3 && warned() >= 2 })
		if lines := followed.view.warnings.Summary(false); len(lines) != 1 || !strings.Contains(lines[0], "reference rule costly: its expressions cost more than 2000 units") {
			t.Errorf("warnings: %q", lines)
		}
	})
	t.Run("tried again", func(t *testing.T) {
		e := startEngine(t, Options{Config: configmaps.Serve(t, 3), Budget: smallBudget})
		if err := e.ApplyRule(t.Context(), "costly", costly); err != nil {
			t.Fatal(err)
		}
		e.rules.Named("costly").Budget.Charge(2 * smallBudget)
		followed := follow(t, e, yes)
		warned := followed.view.warnings.Faults
		patience.Await(t, "a warning for each object", func() bool { return followed.vertices() == 3 && warned() == 3 })
		e.rules.RetryExceeded()
		patience.Await(t, "no warning", func() bool { return warned() == 0 })
		patience.Await(t, "the references of all objects", func() bool { return followed.view.lens.Counts().Arcs == 3 })
	})
}
