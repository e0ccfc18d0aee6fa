package graphview

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// keeper is the state of a View's goroutine, which reconciles the view's watches with its spec, the
// served kinds, its namespaces and the rights that restrict it. No other goroutine uses it.
type keeper struct {
	view *View
	life context.Context // of the view

	taps map[plan.Need]*tap
	// replacing are the needs of the last plan, without those in standby, which replace no tap.
	replacing map[plan.Purpose][]plan.Need
	// retiring are the taps that other taps will replace, with the time since which they wait.
	retiring map[*tap]time.Time
	// planned is the generation of the program for which the taps were set, 0 without taps.
	planned int

	selection selection
	advised   advised
	grants    *grants
	rights    int // number of places that the view is charged for
	// namespacesOf are the namespaces that the view's judges may have admitted, by resource.
	namespacesOf map[resources.Resource]*tapNamespaces
	// covered is the coverage that was last set in the lens.
	covered map[graph.Kind]graph.Coverage
	// deniedKinds are the kinds that the lens uses without a watch; see useDenied. previousDenied are the
	// denied kinds of the previous plan.
	deniedKinds, previousDenied map[graph.Kind]bool
	// namespaces are the selected namespaces as last known, nil before they are known.
	namespaces map[string]bool
	// within and blind are Within and Blind of the last outline.
	within map[resources.Resource]map[string]bool
	blind  bool
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

// allTaps returns the taps of the present plan and the retiring ones.
func (k *keeper) allTaps() []*tap {
	return slices.AppendSeq(slices.Collect(maps.Values(k.taps)), maps.Keys(k.retiring))
}

// setRoots sets the roots of the lens and the references to follow.
func (k *keeper) setRoots(p *spec.Program) {
	k.view.engine.writer.Do(func() {
		k.view.lens.SetRoots(p.Rooted(), p.Walk())
		k.view.lens.SetInferred(!p.Spec.ExcludeInferred)
	})
}

// refusedAfter is the time for which a watch of all namespaces has to be forbidden before the view
// watches single namespaces instead. An API server that restarts forbids everything for a moment.
const refusedAfter = 5 * time.Second

// refusals returns the resources that the operator may not watch in all namespaces, and the time
// until the result may change without an event. The refused watches continue to try, and the view
// uses them again once they succeed.
func refusals(taps map[plan.Need]*tap, now time.Time) (refused map[resources.Resource]bool, again time.Duration) {
	refused, again = make(map[resources.Resource]bool), time.Hour
	for n, t := range taps {
		if !n.Everywhere() {
			continue
		}
		state := t.state()
		if state.Reason != watch.Forbidden {
			continue
		}
		if left := refusedAfter - now.Sub(state.Since); left > 0 {
			again = min(again, left)
			continue
		}
		refused[n.Resource] = true
	}
	return refused, again
}

// inUse returns the feeds and kinds of the taps that are not closed, and the denied kinds. Taps of
// Namespaces and releases do not count. Only the writer calls it.
func (k *keeper) inUse() (feeds map[*intake.Feed]bool, kinds map[graph.Kind]bool) {
	feeds, kinds = make(map[*intake.Feed]bool), make(map[graph.Kind]bool)
	maps.Copy(kinds, k.deniedKinds)
	for _, t := range k.allTaps() {
		if t.need.OfObjects() && t.State() != intake.Closed {
			feeds[t.feed], kinds[intake.KindOf(t.need.Resource)] = true, true
		}
	}
	return feeds, kinds
}

// permitOf returns the Permit that restricts the view's watches, nil if there is none, and the name of
// its account for warnings.
func (v *View) permitOf(p *spec.Program) (Permit, string) {
	switch {
	case v.engine.o.Own != nil:
		return v.engine.o.Own, "you"
	case v.permit != nil:
		return v.permit, "you"
	}
	account := p.Spec.ServiceAccountName
	if account == "" {
		return nil, ""
	}
	subject := "service account " + account
	if v.engine.o.Permit == nil {
		return func(context.Context, []access.Place) (map[access.Place]bool, error) {
			return nil, errors.New("this server cannot decide for service accounts")
		}, subject
	}
	return func(ctx context.Context, places []access.Place) (map[access.Place]bool, error) {
		return v.engine.o.Permit(ctx, Name{v.name.Namespace, account}, places)
	}, subject
}

// selectedNamespaces returns the namespaces that the view selects by their content or, without a
// selector, all of them. complete is false while the view waits for them. It then returns the last
// known ones, so that a changed spec removes nothing yet, or nil.
func (k *keeper) selectedNamespaces(p *spec.Program) (selected map[string]bool, complete bool) {
	t := k.taps[plan.NamespaceNeed(p)]
	if t == nil {
		return k.namespaces, false
	}
	state := t.state()
	t.settled = t.ready(state)
	if !t.settled && state.Err == nil && time.Since(t.acquired) <= k.view.engine.o.SyncTimeout {
		return k.namespaces, false
	}
	k.namespaces = t.selectedNamespaces()
	return k.namespaces, true
}

// judgeFor returns the judge for the objects of a need.
func (k *keeper) judgeFor(p *spec.Program, n plan.Need) *intake.Judge {
	j := &intake.Judge{Resource: n.Resource, Query: &p.Queries[n.Query], Roots: p.Roots}
	within := k.within[n.Resource]
	switch {
	case p.Namespaces.Selective() && k.blind:
		j.Namespaces = map[string]bool{}
	case p.Namespaces.Selective():
		set, _ := k.selectedNamespaces(p)
		j.Waits = set == nil
		j.Namespaces = set
		if within != nil {
			j.Namespaces = maps.Clone(set)
			maps.DeleteFunc(j.Namespaces, func(name string, _ bool) bool { return !within[name] })
		}
	case within != nil:
		j.Namespaces = within
	case p.Namespaces != nil:
		j.Namespaces = p.Namespaces.Names
	}
	return j
}

// holdWatches charges the view for the watches that it has or needs, and for the namespaces in their
// indexes. A watch of all objects of a resource is free, because all views share it. For the objects
// of another watch, the views that lease it pay in equal parts.
func (k *keeper) holdWatches(needed map[plan.Need]bool) error {
	bytes := selectedBytes*int64(len(k.namespaces)) + k.leasedBytes()
	for n := range needed {
		if k.taps[n] == nil && restricted(n) {
			bytes += watchBytes
		}
	}
	return k.view.hold(budget.Watches, bytes)
}

// leasedBytes returns the view's part of the watches that it has.
func (k *keeper) leasedBytes() (bytes int64) {
	for _, t := range k.allTaps() {
		bytes += indexedBytes * int64(len(t.concerning().Names))
		if restricted(t.need) {
			has := t.state()
			bytes += watchBytes + (objectBytes*int64(has.Objects)+has.Bytes)/int64(max(1, t.lease.Leases()))
		}
	}
	return bytes
}

// holdRights charges the view for the places about which it asks the Permit.
func (k *keeper) holdRights(places int) error {
	k.rights = places
	return k.view.hold(budget.Rights, rightBytes*int64(places))
}

// holdMoreRights calls holdRights if the number of places has grown.
func (k *keeper) holdMoreRights(places int) error {
	if places <= k.rights {
		return nil
	}
	return k.holdRights(places)
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
