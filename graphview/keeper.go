package graphview

import (
	"context"
	"time"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// keeper is the state of a View's goroutine, which reconciles the view's watches with its spec, the
// served kinds, its namespaces and the rights that restrict it. No other goroutine uses it.
type keeper struct {
	view *View
	life context.Context // of the view

	taps *tapSet
	// planned is the generation of the program for which the taps were set, 0 without taps.
	planned int

	selection selection
	advised   advised
	// rights restrict the view, nil if none do.
	rights *restriction
	places int // number of places that the view is charged for
	// limits is State.Limits of the view when it last began without objects.
	limits  int
	horizon horizon
}

// advised is the input of the last advice.
type advised struct {
	program      *spec.Program
	catalog      *resources.Catalog
	noNamespaces bool
}

// selection is the result of the queries of a program on a catalog.
type selection struct {
	program *spec.Program
	catalog *resources.Catalog
	chosen  []resources.Selected
	errs    []error
	// decisions has for each resource of the catalog the index of the query that decided about it,
	// -1 for none. It lacks resources for which a query could not be evaluated.
	decisions []int
}

// selectFrom applies the queries of a program to a catalog while enough returns true.
func selectFrom(ctx context.Context, p *spec.Program, catalog *resources.Catalog, charge func(cost uint64) bool, enough func() bool) selection {
	s := selection{program: p, catalog: catalog}
	s.chosen, s.errs = resources.Select(catalog, func(r resources.Resource) (int, bool, bool, error) {
		if !enough() {
			return 0, false, false, nil
		}
		query, include, decided, err := p.Choose(ctx, expr.Resource(r), charge)
		switch {
		case err != nil:
		case decided:
			s.decisions = append(s.decisions, query)
		case enough():
			s.decisions = append(s.decisions, -1)
		}
		return query, include, decided, err
	})
	return s
}

// setRoots sets the roots of the lens and the references to follow.
func (k *keeper) setRoots(p *spec.Program) {
	k.view.engine.writer.Do(func() {
		k.view.lens.SetRoots(p.Rooted(), p.Walk)
		k.view.lens.SetInferred(p.Spec.InferredReferences != v1alpha1.ExcludeInferred)
	})
}

// chargeWatches charges the view for the watches that it has or needs, and for the namespaces in their
// indexes. A watch of all objects of a resource is free, because all views share it. For the objects
// of another watch, the views that lease it pay in equal parts.
func (k *keeper) chargeWatches(needed map[plan.Need]bool) error {
	bytes := selectedBytes*int64(len(k.taps.namespaces)) + k.taps.leasedBytes()
	for n := range needed {
		if k.taps.needed[n] == nil && restricted(n) {
			bytes += watchBytes
		}
	}
	return k.view.charge(budget.Watches, bytes)
}

// chargeRights charges the view for the places about which it asks.
func (k *keeper) chargeRights(places int) error {
	k.places = places
	return k.view.charge(budget.Rights, rightBytes*int64(places))
}

// chargeMoreRights calls chargeRights if the number of places has grown.
func (k *keeper) chargeMoreRights(places int) error {
	if places <= k.places {
		return nil
	}
	return k.chargeRights(places)
}

// restricted reports whether a watch, except of releases, is limited to a namespace or by a selector.
func restricted(n plan.Need) bool {
	return !n.OfReleases() && (n.Key.Namespace != "" || n.Key.LabelSelector != "" || n.Key.FieldSelector != "")
}

// Tombstones are kept so that a reconnecting subscriber can resume. The graph limits their number.
// These constants limit their age, for views whose objects seldom change.
const (
	rememberFor = time.Hour
	markEvery   = 5 * time.Minute
)

// horizon records revisions of a view and their times, to find the revision up to which tombstones
// are too old.
type horizon struct{ marks []mark }

type mark struct {
	at   time.Time
	head uint64
}

// pass records the present revision, and returns the revision up to which tombstones can be dropped, 0
// for none.
func (h *horizon) pass(now time.Time, head uint64) uint64 {
	if n := len(h.marks); n == 0 || now.Sub(h.marks[n-1].at) >= markEvery {
		h.marks = append(h.marks, mark{now, head})
	}
	var old uint64
	for len(h.marks) > 0 && now.Sub(h.marks[0].at) >= rememberFor {
		old, h.marks = h.marks[0].head, h.marks[1:]
	}
	return old
}
