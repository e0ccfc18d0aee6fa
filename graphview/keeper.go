package graphview

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// keeper is the goroutine of a View. It reconciles the view's watches with its spec, the served
// kinds, its namespaces and the rights that restrict it. No other goroutine uses it.
type keeper struct {
	view *View
	life context.Context // the view's

	taps map[plan.Need]*tap
	// replacing are the needs of the last plan, without the ones in standby, which replace no tap.
	replacing map[plan.Purpose][]plan.Need
	// retiring are taps that others will replace, with the time at which that began.
	retiring map[*tap]time.Time
	// planned is the generation of the taps, 0 without taps.
	planned int

	selection selection
	advised   advised
	grants    *grants
	rights    int // places that the view is charged for
	// namespacesOf are the namespaces that the view's judges may have admitted.
	namespacesOf map[resources.Resource]*tapNamespaces
	// covered is the coverage that the lens has.
	covered map[graph.Kind]graph.Coverage
	// mentioned are the kinds that the lens uses without a watch; see mention. formerly are those
	// of the plan before.
	mentioned, formerly map[graph.Kind]bool
	// namespaces are the last known selected namespaces, nil before they are known.
	namespaces map[string]bool
	// within and blind are those of the last outline.
	within map[resources.Resource]map[string]bool
	blind  bool
	// retryAt is the time at which a view that exceeds a limit, or has failed, is retried.
	retryAt time.Time
	// retried: the view has not synced since it was retried.
	retried bool
	// failure is the message about a panic in this goroutine while it reconciled the generation
	// failed; "" for none.
	failure string
	failed  int
	current int // generation that is being reconciled
	horizon horizon
}

// selection is the result of a program's queries on a catalog.
type selection struct {
	program *spec.Program
	catalog *resources.Catalog
	chosen  []resources.Selected
	errs    []error
	// decisions are the queries that decide about the catalog's resources, -1 for none. A
	// resource whose query could not be evaluated has no decision.
	decisions []int
}

// selectFrom applies a program's queries to a catalog until enough returns false.
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

func newKeeper(v *View) *keeper {
	return &keeper{
		view: v, taps: make(map[plan.Need]*tap), namespacesOf: make(map[resources.Resource]*tapNamespaces), retiring: make(map[*tap]time.Time),
		grants: newGrants(v.engine.o.PermitInterval/2, v.engine.o.SyncTimeout),
	}
}

// run reconciles the view until the view or ctx ends.
func (k *keeper) run(ctx context.Context) {
	v := k.view
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.life = ctx
	v.onEnd(cancel)
	v.evaluator.Begin(ctx)
	k.start()
	defer k.finish()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		catalog, discovered := v.engine.discovery.Current()
		timer.Reset(min(k.step(ctx, catalog), markEvery))
		select {
		case <-v.done:
			// Questions about rights end with ctx. finish waits for them.
			cancel()
			return
		case r := <-k.grants.results:
			k.grants.store(r, time.Now())
		case <-v.kicks:
		case <-discovered:
		case <-timer.C:
		}
	}
}

// step reconciles once, and returns the time until the next step. A panic is a condition of this
// view alone.
func (k *keeper) step(ctx context.Context, catalog *resources.Catalog) (again time.Duration) {
	defer func() {
		if fault := recover(); fault != nil {
			k.failed, k.failure = k.current, "the operator met a fault of its own while it prepared this view; its log says more. Change the spec, or report the fault"
			k.view.engine.o.Logger.Error(fmt.Errorf("panic: %v", fault), "A view is not served", "view", k.view.name.String(), "stack", string(debug.Stack()))
			again = time.Second
		}
	}()
	again = k.reconcile(ctx, catalog)
	if old := k.horizon.pass(time.Now(), k.view.lens.Head()); old != 0 {
		k.view.engine.writer.Do(func() { k.view.lens.Forget(old) })
	}
	return again
}

// start creates the view's lens, finish releases the lens and all watches.
func (k *keeper) start() {
	v := k.view
	v.engine.writer.Do(func() {
		v.lens = v.engine.graph.NewLens()
		v.engine.writer.Follow(v.lens, follower{v})
	})
	v.publisher.SetLens(v.lens)
	v.announceNews()
}

func (k *keeper) finish() {
	v := k.view
	k.grants.wait()
	v.engine.shared.Set(v, nil, time.Now())
	taps := k.allTaps()
	for _, t := range taps {
		t.detach()
	}
	v.engine.writer.Do(func() {
		for _, t := range taps {
			t.Close()
		}
		// Close removes all objects, so the taps need no Unwatch.
		v.engine.writer.Unfollow(v.lens)
		v.lens.Close()
	})
	for _, t := range taps {
		v.engine.giveBack(t)
	}
	v.account.Close()
	v.engine.retryNext(v.name.Namespace)
}

// allTaps returns the taps of the present plan and the retiring ones.
func (k *keeper) allTaps() []*tap {
	return slices.AppendSeq(slices.Collect(maps.Values(k.taps)), maps.Keys(k.retiring))
}

// setRoots sets the roots and the references to follow.
func (k *keeper) setRoots(p *spec.Program) {
	k.view.engine.writer.Do(func() {
		k.view.lens.SetRoots(p.Rooted(), p.Walk())
		k.view.lens.SetInferred(!p.Spec.ExcludeInferred)
	})
}

// clear releases all watches while the view is not served.
func (k *keeper) clear() {
	k.rights = 0
	k.view.account.Release(budget.Rights)
	if k.planned == 0 {
		return
	}
	v := k.view
	k.empty()
	k.formerly, k.mentioned = k.mentioned, nil
	k.dropTaps(k.allTaps())
	clear(k.taps)
	clear(k.retiring)
	clear(k.namespacesOf)
	k.forgetMentioned()
	v.engine.shared.Set(v, nil, time.Now())
	k.namespaces, k.advised, k.covered = nil, advised{}, nil
	v.mu.Lock()
	v.rows, v.advice = nil, advice.Advice{}
	v.scoped++
	v.mu.Unlock()
	v.warnings.Reset()
	k.planned = 0
	v.account.Release(budget.Elements, budget.Watches)
	v.filled.Store(false)
	v.notify()
}

// empty removes all objects from the lens, one slice after the other. The lens may exceed the limit,
// and readers of all graphs would wait for its removal at once.
func (k *keeper) empty() {
	v := k.view
	v.engine.writer.Do(func() {
		var sources []graph.SourceID
		for _, t := range k.allTaps() {
			t.Close()
			sources = append(sources, t.feed.Source())
		}
		v.lens.Unwatch(sources...)
	})
	for leaving := true; leaving; {
		v.engine.writer.Do(func() { leaving = v.lens.RemovingMembers() })
	}
}

// refusedAfter is the time for which a watch of all namespaces has to be forbidden before single
// namespaces are watched instead. An API server that restarts forbids everything for a moment.
const refusedAfter = 5 * time.Second

// refusals returns the resources that the operator may not watch in all namespaces, and the time
// until there may be more of them. Their watches of all namespaces continue to try, and are used
// again once they succeed.
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

// inUse returns the feeds and the kinds of the view's vertices, without those of closed taps, and the
// kinds that are mentioned. Only the writer calls it.
func (k *keeper) inUse() (feeds map[*feed]bool, kinds map[graph.Kind]bool) {
	feeds, kinds = make(map[*feed]bool), make(map[graph.Kind]bool)
	maps.Copy(kinds, k.mentioned)
	for _, t := range k.allTaps() {
		if t.need.OfObjects() && !t.Closed() {
			feeds[t.feed], kinds[intake.KindOf(t.need.Resource)] = true, true
		}
	}
	return feeds, kinds
}

// Tombstones are kept so that a reconnecting subscriber can resume. The graph limits their number.
// These limit their age: a view whose objects seldom change has no tombstones of last week.
const (
	rememberFor = time.Hour
	markEvery   = 5 * time.Minute
)

// horizon records revisions of a view and their times, to find the revision before which tombstones
// are too old.
type horizon struct{ marks []mark }

type mark struct {
	at   time.Time
	head uint64
}

// pass records the revision head, and returns the revision up to which tombstones can be dropped, 0
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
