package graphview

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

func newKeeper(v *View) *keeper {
	return &keeper{
		view: v, taps: newTapSet(v),
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
			return
		case <-v.evaluator.Kicks():
		case <-discovered:
		case <-timer.C:
		}
	}
}

// step reconciles once, and returns the time until the next step. After a panic, only this view is not
// served.
func (k *keeper) step(ctx context.Context, catalog *resources.Catalog) (again time.Duration) {
	v := k.view
	// nextProgram registers cancel, so a corrected spec does not wait for work on the old one.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, now := v.nextProgram(cancel)
	defer func() {
		if fault := recover(); fault != nil {
			v.limit(now.Generation, errors.New("the operator met a fault of its own while it prepared this view; its log says more. Change the spec, or report the fault"))
			v.engine.o.Logger.Error(fmt.Errorf("panic: %v", fault), "A view is not served", "view", v.name.String(), "stack", string(debug.Stack()))
			again = time.Second
		}
	}()
	again = k.reconcile(ctx, catalog, p, now)
	if old := k.horizon.pass(time.Now(), v.lens.Head()); old != 0 {
		v.engine.writer.Do(func() { v.lens.Forget(old) })
	}
	return again
}

// start creates the view's lens.
func (k *keeper) start() {
	v := k.view
	v.engine.writer.Do(func() {
		v.lens = v.engine.graph.NewLens()
		v.lens.SetOwner(v.account.Owner())
		v.evaluator.SetLens(v.lens)
		v.engine.writer.Follow(v.lens, follower{v.publisher, v})
	})
	v.publisher.SetLens(v.lens)
	v.announceNews()
}

// finish releases the lens and all watches.
func (k *keeper) finish() {
	v := k.view
	k.unrestrict()
	v.engine.shared.Forget(v, time.Now())
	k.drop()
	v.account.Close()
	v.engine.retryNext(v.name.Namespace)
}

// drop closes the lens, and releases all watches.
func (k *keeper) drop() {
	v, taps := k.view, k.taps.all()
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
		v.engine.intake.Release(t.lease)
	}
}

// clear replaces the lens and releases all watches while the view is not served. Its streams have ended.
func (k *keeper) clear() {
	k.unrestrict()
	k.places = 0
	k.view.account.Release(budget.Rights)
	if k.planned == 0 {
		return
	}
	v := k.view
	k.drop()
	k.taps = newTapSet(v)
	k.start()
	v.engine.shared.Forget(v, time.Now())
	k.advised = advised{}
	v.mu.Lock()
	v.rows, v.advice = nil, advice.Advice{}
	v.setScopeLocked()
	v.mu.Unlock()
	v.warnings.Reset()
	k.planned = 0
	v.account.Release(budget.Elements, budget.Watches)
	v.notify()
}

// reconcile returns the time until it has to run again. Its steps: check that the view can be served;
// select resources by the queries (selectResources); derive the needed watches and rights (outline);
// set taps and roots (applyOutline); update advice and the report.
func (k *keeper) reconcile(ctx context.Context, catalog *resources.Catalog, p *spec.Program, now delivery.State) time.Duration {
	v, generation := k.view, now.Generation
	switch {
	case now.Phase == delivery.Ended:
		return time.Hour // run calls finish
	case now.Phase == delivery.Limited:
		return k.waitForRetry(p, now)
	case now.Err() != nil:
		k.clear()
		return time.Hour
	case p == nil:
		k.clear()
		return time.Hour
	case now.Limits != k.limits || generation != k.planned && k.isTooLarge():
		// The old spec left objects without a verdict, or selected too many. The new one starts
		// without them.
		k.clear()
		k.limits = now.Limits
	}
	if why := k.excess(); why != nil {
		v.limit(generation, why)
		return 0
	}
	if catalog == nil {
		return time.Second
	}
	if !k.selectResources(ctx, p, catalog) {
		return 10 * time.Millisecond
	}
	o, again := k.outline(p, time.Now())
	if v.Err() != nil {
		return 0 // the view may not hold the memory
	}
	if generation != k.planned && k.planned != 0 && o.Undecided {
		// The graph of the old spec stays until the rights for the new one are known.
		return again
	}
	if err := k.applyOutline(ctx, p, &o, generation); err != nil {
		return again
	}
	k.advise(ctx, p)
	return min(again, k.report(catalog, o, now))
}

// applyOutline sets the taps and roots of the view as the outline demands. If the ledger refuses the memory
// for the watches, it adds no tap and returns the error.
func (k *keeper) applyOutline(ctx context.Context, p *spec.Program, o *plan.Outline, generation int) error {
	first := generation != k.planned
	if first {
		// First finish the switches of the last plan, as far as possible.
		k.taps.finishSwitches(ctx)
	}
	// A view without roots shows everything. So roots are removed before the taps change, and added
	// after that: no object that stays is hidden in between. The first plan always sets roots first.
	before := k.planned == 0 || !p.Rooted()
	if first && before {
		k.setRoots(p)
	}
	k.planned, k.taps.within, k.taps.blind = generation, o.Within, o.Blind
	if len(o.Listed) == 0 {
		k.taps.namespaces = nil
	}
	if err := k.chargeWatches(o.Needed); err != nil {
		return err
	}
	if k.view.engine.o.Own != nil {
		k.taps.coverage.useDenied(o)
	}
	k.taps.set(ctx, p, o)
	k.taps.unuseDenied()
	if first && !before {
		k.setRoots(p)
	}
	if !o.UnlistedYet {
		k.taps.replayChangedNamespaces(ctx, p)
	}
	if !o.Open() {
		k.taps.finishSwitches(ctx)
	}
	k.taps.settleNamespaces()
	return nil
}

// freeSelection is the cost of resource selectors on one catalog that is not charged. Plain comparisons
// cost less, so a spec that corrects a costly one is not refused because few tokens are left.
const freeSelection = 10_000

// selectResources applies the program's queries to the catalog, unless k.selection has the result. It
// returns false if the owner's budget is exceeded or ctx has ended.
func (k *keeper) selectResources(ctx context.Context, p *spec.Program, catalog *resources.Catalog) bool {
	if k.selection.program == p && k.selection.catalog == catalog {
		return true
	}
	v := k.view
	tokens := v.evaluator.Budget()
	var free uint64 = freeSelection
	enough := true
	charge := func(cost uint64) bool {
		v.engine.processors.Cost.Add(cost)
		granted := min(cost, free)
		free -= granted
		enough = tokens.Charge(cost - granted)
		return enough
	}
	chosen := selectFrom(ctx, p, catalog, charge, func() bool { return enough })
	if ctx.Err() != nil || tokens.Exceeded() {
		return false
	}
	k.selection = chosen
	return true
}

// outline derives which watches the view needs, and asks for missing rights. It returns the time until
// the outline may change without an event.
func (k *keeper) outline(p *spec.Program, now time.Time) (plan.Outline, time.Duration) {
	v := k.view
	refused, again := k.taps.refused(now)
	s := plan.Situation{
		Program: p, Selected: k.selection.chosen, Subject: k.restrict(p), Own: v.engine.o.Own != nil, Refused: refused,
	}
	if k.rights != nil {
		s.Allowed, s.Unanswered = k.rights.allowed, k.rights.unanswered()
	}
	s.Namespaces, s.Complete = k.taps.selectedNamespaces(p)
	s.Charge = k.chargeMoreRights
	var late time.Duration
	s.Watches, late = k.taps.statuses(now)
	o := v.engine.shared.Outline(v, s, now)
	places := o.Places
	if k.rights != nil && p.Spec.ServiceAccountName != "" && p.Namespaces != nil && p.Namespaces.Names != nil && !slices.Contains(places, namespacesPlace) {
		places = append(places, namespacesPlace) // see MayListNamespaces
	}
	if !o.Overdrawn && k.chargeRights(len(places)) == nil && k.rights != nil {
		k.rights.want(places)
	}
	return o, min(again, late, o.Again)
}

// waitForRetry releases the watches of a view that exceeds a limit, and returns the time until it is
// retried. A view without a program has no spec: it is retried when its spec is applied again.
func (k *keeper) waitForRetry(p *spec.Program, now delivery.State) time.Duration {
	v := k.view
	k.clear()
	k.limits = now.Limits
	if left := time.Until(now.Until); left > 0 {
		return left
	}
	if p == nil {
		v.notify() // of Status.Unapplied
		return time.Hour
	}
	v.evaluator.RenewBudget()
	v.state.To(delivery.State{Phase: delivery.Syncing, Generation: now.Generation})
	return 0
}

func (k *keeper) isTooLarge() bool { return k.view.lens.Vertices() > k.view.engine.o.MaxVertices }

// excess returns the reason why the view is too large or costs too much, nil if it does not.
func (k *keeper) excess() error {
	switch v := k.view; {
	case k.isTooLarge():
		return fmt.Errorf("the view has more than %d visible vertices; narrow its queries, namespaces or roots, or raise --max-vertices-per-view", v.engine.o.MaxVertices)
	case v.evaluator.Budget().Exceeded():
		return errors.New(v.tooCostly())
	}
	return nil
}
