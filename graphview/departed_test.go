package graphview

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/spec"
)

// manyUnits is a budget of which a test's time grants little anew.
const manyUnits = 1 << 40

// spend takes all of a budget.
func spend(b *costBudget) {
	tokens := b.bucket.Load().tokens
	now := time.Now()
	tokens.AllowN(now, int(tokens.TokensAt(now)))
}

// leftOf is how many hundredths of a budget are left.
func leftOf(b *costBudget) int {
	return int(100 * b.bucket.Load().tokens.TokensAt(time.Now()) / manyUnits)
}

// TestBudgetOutlivesAView: who deletes a GraphView and creates one has what an edit
// brings, whatever the names are.
func TestBudgetOutlivesAView(t *testing.T) {
	apply := func(t *testing.T, e *Engine, namespace, name, uid string) *View {
		t.Helper()
		if err := e.Apply(t.Context(), Name{namespace, name}, uid, configMapsSpec()); err != nil {
			t.Fatal(err)
		}
		v, _ := e.View(Name{namespace, name})
		return v
	}
	for name, test := range map[string]struct {
		again    func(t *testing.T, e *Engine) *View
		wantFull bool
	}{
		"deleted and created": {again: func(t *testing.T, e *Engine) *View {
			t.Helper()
			e.Remove(Name{"shop", "flow"})
			return apply(t, e, "shop", "flow", "2")
		}},
		"deleted and created again and again": {again: func(t *testing.T, e *Engine) *View {
			t.Helper()
			for i := range 20 {
				e.Remove(Name{"shop", "flow"})
				apply(t, e, "shop", "flow", fmt.Sprint(i))
			}
			v, _ := e.View(Name{"shop", "flow"})
			return v
		}},
		"created before the deletion was seen": {again: func(t *testing.T, e *Engine) *View { t.Helper(); return apply(t, e, "shop", "flow", "2") }},
		"created under another name": {again: func(t *testing.T, e *Engine) *View {
			t.Helper()
			e.Remove(Name{"shop", "flow"})
			return apply(t, e, "shop", "stream", "2")
		}},
		"created in another namespace": {wantFull: true, again: func(t *testing.T, e *Engine) *View {
			e.Remove(Name{"shop", "flow"})
			return apply(t, e, "bank", "flow", "2")
		}},
		"another one beside it": {wantFull: true, again: func(t *testing.T, e *Engine) *View { return apply(t, e, "shop", "stream", "2") }},
		"refused and mended": {again: func(t *testing.T, e *Engine) *View {
			e.Refuse(Name{"shop", "flow"}, "1", &spec.InvalidError{})
			return apply(t, e, "shop", "flow", "1")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := NewEngine(Options{Config: serveConfigMaps(t, 1), Budget: manyUnits})
			if err != nil {
				t.Fatal(err)
			}
			first := apply(t, e, "shop", "flow", "1")
			if left := leftOf(&first.budget); left < 99 {
				t.Fatalf("the first view has %d %% of a budget", left)
			}
			spend(&first.budget)
			// Each second of the test brings a hundredth.
			if left := leftOf(&test.again(t, e).budget); test.wantFull && left < 99 || !test.wantFull && left > 60 {
				t.Errorf("%d %% of a budget are left", left)
			}
		})
	}
}

// TestBudgetOutlivesARule: an edit that is refused brings no more than any other, and
// neither does a rule that is deleted and created.
func TestBudgetOutlivesARule(t *testing.T) {
	valid := spec.Rule{From: widgetKind, References: []spec.RuleReference{{Expression: "[]"}}}
	for name, between := range map[string]func(t *testing.T, e *Engine){
		"deleted": func(t *testing.T, e *Engine) {
			if err := e.RemoveRule("a"); err != nil {
				t.Fatal(err)
			}
		},
		"refused": func(t *testing.T, e *Engine) {
			if err := e.ApplyRule(t.Context(), "a", spec.Rule{From: widgetKind, References: []spec.RuleReference{{Expression: "]"}}}); err == nil {
				t.Fatal("accepted")
			}
		},
		"edited": func(t *testing.T, e *Engine) {
			if err := e.ApplyRule(t.Context(), "a", spec.Rule{From: gadgetKind, References: valid.References}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := NewEngine(Options{Config: serveConfigMaps(t, 1), Budget: manyUnits})
			if err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				if err := e.ApplyRule(t.Context(), "a", valid); err != nil {
					t.Fatal(err)
				}
				b := e.rules.named("a").budget
				if left := leftOf(b); round == 0 && left < 99 || round > 0 && left > 60 {
					t.Errorf("round %d: %d %% of a budget are left", round, left)
				}
				spend(b)
				between(t, e)
			}
		})
	}
}

// TestDepartedBudgets: they are forgotten once they are full again, and there are not
// more of them than a namespace may have.
func TestDepartedBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d departed
		spent := func(left int) *bucket {
			b := &bucket{tokens: newTokens(1000)}
			b.tokens.AllowN(time.Now(), 1000-left)
			return b
		}
		d.put("shop", "full", spent(1000), time.Now())
		d.put("shop", "half", spent(500), time.Now())
		d.put("shop", "none", spent(0), time.Now())
		d.put("shop", "none", spent(900), time.Now())
		for _, want := range []struct {
			name string
			left float64
		}{{"half", 500}, {"other", 0}} {
			if got := d.take("shop", want.name, time.Now()); got == nil || got.tokens.Tokens() != want.left {
				t.Errorf("%s: %v, want %v units left", want.name, got, want.left)
			}
		}
		if got := d.take("shop", "more", time.Now()); got != nil || len(d.spaces) != 0 {
			t.Errorf("%v of %v is left", got, d.spaces)
		}
		for i := range 2 * maxDeparted {
			d.put("shop", fmt.Sprint(i), spent(i%1000), time.Now())
		}
		if n := len(d.spaces["shop"]); n != maxDeparted {
			t.Errorf("%d are kept, want %d", n, maxDeparted)
		}
		if got := d.take("shop", "other", time.Now()); got.tokens.Tokens() != 0 {
			t.Errorf("of those that are kept, the one of which least is left has %v", got.tokens.Tokens())
		}
		time.Sleep(2 * budgetSeconds * time.Second)
		d.put("bank", "one", spent(0), time.Now())
		if len(d.spaces) != 1 {
			t.Errorf("%d namespaces are remembered, want one", len(d.spaces))
		}
	})
}
