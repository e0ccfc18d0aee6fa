package graphview

import (
	"context"
	"fmt"

	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// adviceCost limits the cost of advice, in CEL's units: about ten milliseconds. Further advice is left
// out.
const adviceCost = 100_000

func adviceBudget() func(cost uint64) bool {
	left := uint64(adviceCost)
	return func(cost uint64) bool {
		left -= min(cost, left)
		return left > 0
	}
}

// Advise finds the parts of a spec that have no effect on a cluster with the given catalog. It stops
// when the expressions of the spec cost too much.
func Advise(ctx context.Context, p *spec.Program, catalog *resources.Catalog) advice.Advice {
	charge, enough := adviceBudget(), true
	chosen := selectFrom(ctx, p, catalog, func(cost uint64) bool {
		enough = charge(cost)
		return enough
	}, func() bool { return enough })
	return adviceOf(ctx, &chosen, false)
}

// adviceOf finds the parts of a spec that have no effect. noNamespaces: the spec selects no namespace.
func adviceOf(ctx context.Context, s *selection, noNamespaces bool) advice.Advice {
	p, fates := s.program, fatesOf(ctx, s)
	a := advice.Spec{NoNamespaces: noNamespaces, Served: s.catalog.All(), Namespaces: p.Namespaces.Named()}
	for _, chosen := range s.chosen {
		a.Selected = append(a.Selected, chosen.Resource)
	}
	for i := range p.Queries {
		which := "exclude"
		if p.Queries[i].Include {
			which = "include"
		}
		fate := fates[i]
		a.Queries = append(a.Queries, advice.Query{
			Path: fmt.Sprintf("spec.queries[%d].%s.resourceSelectorExpression", i, which), Include: p.Queries[i].Include,
			Compared: comparedIn(p.Queries[i].Resource.Compared()), Fate: fate.fate, By: fate.by,
		})
	}
	for _, root := range p.Roots {
		a.Roots = append(a.Roots, advice.Root{Path: root.Path, Compared: comparedIn(root.Compared()), Description: root.Description})
	}
	return advice.Of(ctx, a)
}

// comparedIn returns the comparisons of an expression in their order, without duplicates.
func comparedIn(compared []expr.Comparison) []advice.Comparison {
	out := make([]advice.Comparison, 0, len(compared))
	seen := make(map[expr.Comparison]bool, len(compared))
	for _, c := range compared {
		if !seen[c] {
			seen[c] = true
			out = append(out, advice.Comparison(c))
		}
	}
	return out
}

// fate is the effect of a query.
type fate struct {
	fate advice.Fate
	by   int // the query that decides in place of a shadowed one
}

// fatesOf returns the fates of all queries. It evaluates a query that decides about no resource on all
// resources until it matches one.
func fatesOf(ctx context.Context, s *selection) []fate {
	out := make([]fate, len(s.program.Queries))
	for _, i := range s.decisions {
		if i >= 0 {
			out[i].fate = advice.Decides
		}
	}
	// While the catalog is incomplete, a query may match a resource that is not in it yet.
	if !s.catalog.Complete() || len(s.decisions) < len(s.catalog.All()) {
		return out
	}
	charge := adviceBudget()
	for i := range out {
		if out[i].fate == advice.Unknown {
			out[i] = fateOf(ctx, i, s, charge)
		}
	}
	return out
}

func fateOf(ctx context.Context, i int, s *selection, charge func(cost uint64) bool) (f fate) {
	var fault error
	defer panics.Recover(&fault)
	for n, r := range s.catalog.All() {
		matches, cost, err := s.program.Queries[i].Resource.Matches(ctx, expr.Resource(r))
		if !charge(cost) || err != nil {
			return fate{}
		}
		if matches && s.decisions[n] >= 0 {
			return fate{advice.Shadowed, s.decisions[n]}
		}
	}
	return fate{fate: advice.Matchless}
}

// advise updates the advice about the view's spec, if its input has changed.
func (k *keeper) advise(ctx context.Context, p *spec.Program) {
	now := advised{program: p, catalog: k.selection.catalog}
	if t := k.taps.needed[plan.NamespaceNeed(p)]; t != nil && p.Namespaces.Selective() && !k.taps.blind {
		now.noNamespaces = t.settled && len(t.selectedNamespaces()) == 0
	}
	if now == k.advised {
		return
	}
	k.advised = now
	a := adviceOf(ctx, &k.selection, now.noNamespaces)
	v := k.view
	v.mu.Lock()
	v.advice = a
	v.mu.Unlock()
	v.notify()
}
