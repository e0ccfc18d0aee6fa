package intake

import (
	"strings"
	"testing"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/configmaps"
	"graphview.dev/test/patience"
)

// TestFaultIsRemembered: a view that is shown an object later is told what of its
// references is not known, without finding them again.
func TestFaultIsRemembered(t *testing.T) {
	e := start(t, configmaps.Serve(t, 3))
	first, tap := e.follow(yes)
	patience.Await(t, "the list", func() bool { return first.vertices() == 3 })
	e.writer.Do(func() { tap.feed.setFaultOf(objectName{"shop", "c1"}, "not known") })
	second, _ := e.follow(yes)
	patience.Await(t, "the list", func() bool { return second.vertices() == 3 })
	if lines := second.warnings.Summary(false); len(lines) != 1 || !strings.Contains(lines[0], "not known") {
		t.Errorf("warnings: %q", lines)
	}
}

// TestRelistCostsNothing: what a watch lost, and lists again, is evaluated for a view
// without being charged to it; what is new is charged.
func TestRelistCostsNothing(t *testing.T) {
	e := start(t, configmaps.Serve(t, 3))
	compiled, err := spec.Compile(t.Context(), nil, selecting(v1alpha1.ObjectFilter{ObjectSelectorExpression: "name != ''"}))
	if err != nil {
		t.Fatal(err)
	}
	v := e.view()
	tap, shown := e.take(v, e.feed(""), &compiled.Queries[0])
	<-shown
	patience.Await(t, "the list", func() bool { return v.vertices() == 3 && tap.feed.listed.Load() && tap.charged.Load() })
	// Nothing is granted with time, so that what is left says what was charged.
	tokens := budget.NewBuckets(1<<40, 1<<62).Bucket(budget.NamespaceOwner("shop"))
	v.ChargeTo(budget.NamespaceOwner("shop"), quota.NewBudget(tokens))
	for _, tt := range []struct {
		name   string
		listed bool
		want   bool
	}{{"listed again", false, false}, {"changed", true, true}} {
		before := tokens.Left()
		tap.feed.listed.Store(tt.listed)
		if _, err := tap.feed.watch.Visit(t.Context(), tap.feed.retained(t), func(o *watch.Decoded) bool {
			verdicts, late := tap.feed.evaluate(o)
			if len(verdicts) != 1 || len(late) != 0 || verdicts[0].verdict.Cost == 0 {
				t.Errorf("%s: %d verdicts, %d late", tt.name, len(verdicts), len(late))
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if charged := tokens.Left() < before; charged != tt.want {
			t.Errorf("%s: charged %t, want %t", tt.name, charged, tt.want)
		}
	}
}
