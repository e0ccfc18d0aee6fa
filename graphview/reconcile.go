package graphview

import (
	"context"
	"fmt"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// reconcile brings everything in line once, and returns when to look again.
func (k *keeper) reconcile(ctx context.Context, catalog *resources.Catalog) time.Duration {
	v := k.view
	// A spec that is corrected does not wait for what the one before it has begun.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, generation, incomplete := v.begin(cancel)
	if k.current = generation; generation != k.failed {
		k.failure = ""
	}
	if incomplete || generation != k.planned && v.lens.Vertices() > v.engine.o.MaxVertices {
		// Objects that the spec before could not judge are judged anew, and how many
		// it had says nothing about this one.
		k.clear()
	}
	if k.overLimit() || p == nil {
		k.clear()
		if p != nil {
			return max(time.Second, time.Until(k.retryAt))
		}
		return time.Hour
	}
	if catalog == nil {
		return time.Second
	}
	first := generation != k.planned
	if !k.selectResources(ctx, p, catalog) {
		return 10 * time.Millisecond
	}
	now := time.Now()
	o, again := k.outline(p, now)
	if first && k.planned != 0 && o.Undecided {
		// What the spec before shows stays until the rights are known that this one
		// depends on.
		return again
	}
	if first {
		// A plan begins when the last one has given back what it does not keep.
		k.finishSwitches(ctx)
	}
	// A view without roots shows everything, so roots are taken away last and added
	// first: no object that stays is hidden in between. A view that has shown
	// nothing yet begins with the roots that it is to have.
	before := k.planned == 0 || !p.Rooted()
	if first && before {
		k.setRoots(p)
	}
	k.planned, k.within, k.blind = generation, o.Within, o.Blind
	if len(o.Listed) == 0 {
		k.namespaces = nil
	}
	k.plan(ctx, p, o.Needed)
	for n, t := range k.taps {
		t.setLacking(o.Lacking[n])
	}
	if first && !before {
		k.setRoots(p)
	}
	if !o.UnlistedYet {
		// Not before it is known which namespaces there are.
		k.renamespace(ctx, p)
	}
	if !o.Open() {
		k.finishSwitches(ctx)
	}
	k.settleNamespaces()
	k.advise(ctx, p)
	return min(again, k.report(catalog, o, generation))
}

// freeSelection is what resource selectors may cost for one catalogue without being
// charged: what plain comparisons cost, so that a spec which mends one that cost too
// much is not refused for what little there is left.
const freeSelection = 10_000

// selectResources has the program select from the catalogue, unless it has done so
// before. It returns false where that was given up.
func (k *keeper) selectResources(ctx context.Context, p *spec.Program, catalog *resources.Catalog) bool {
	if k.selection.program == p && k.selection.catalog == catalog {
		return true
	}
	v := k.view
	budget := v.evaluator.Budget()
	var free uint64 = freeSelection
	enough := true
	charge := func(cost uint64) bool {
		v.engine.processors.Cost.Add(cost)
		granted := min(cost, free)
		free -= granted
		enough = budget.Charge(cost - granted)
		return enough
	}
	chosen := selectFrom(ctx, p, catalog, charge, func() bool { return enough })
	if ctx.Err() != nil || budget.Exceeded() {
		return false
	}
	k.selection = chosen
	return true
}

// outline derives what the view needs, asks for the rights that this depends on, and
// returns the time until the outline may differ without an event.
func (k *keeper) outline(p *spec.Program, now time.Time) (plan.Outline, time.Duration) {
	v := k.view
	permit, who := v.permitOf(p)
	k.grants.of(permit, who)
	refused, again := refusals(k.taps, now)
	s := plan.Situation{
		Program: p, Selected: k.selection.chosen,
		Subject: who, Answers: k.grants.answers, Unanswered: k.grants.unanswered(now), Refused: refused,
	}
	s.Namespaces, s.Complete = k.selectedNamespaces(p)
	claims := plan.ClaimsOf(s)
	for _, t := range k.allTaps() {
		if j := t.Judge(); j != nil {
			claims.Hold(t.need, j.Namespaces)
		}
	}
	v.engine.shared.Set(v, claims.Demands, now)
	shared, linger := v.engine.shared.Shared(v, now)
	current, late := k.currentWatches(now)
	return claims.Outline(shared, current), min(again, late, linger, k.grants.want(k.life, claims.Places, now))
}

// lateAfter is how long a view waits for a shared watch to sync before it watches its
// namespaces by itself.
const lateAfter = 10 * time.Second

// currentWatches are the states of the view's watches, by resource, and the time until one
// of them is late.
func (k *keeper) currentWatches(now time.Time) (current map[resources.Resource][]plan.WatchStatus, again time.Duration) {
	current, again = make(map[resources.Resource][]plan.WatchStatus), time.Hour
	for n, t := range k.taps {
		if n.OfNamespaces() || !n.Resource.Namespaced {
			continue
		}
		has := plan.WatchStatus{Key: n.Key, State: t.state(), Complete: t.complete, Retains: t.retains()}
		left := lateAfter - now.Sub(t.acquired)
		if has.Late = left <= 0; !has.Late && !has.State.Synced {
			again = min(again, left)
		}
		current[n.Resource] = append(current[n.Resource], has)
	}
	return current, again
}

// overLimit says whether the view is not served for its size, its cost or a fault,
// and begins or ends that.
func (k *keeper) overLimit() bool {
	v := k.view
	exceeded := k.failure
	switch {
	case exceeded != "":
	case v.lens.Vertices() > v.engine.o.MaxVertices:
		exceeded = fmt.Sprintf("the view has more than %d visible vertices; narrow its queries, namespaces or roots, or raise --max-vertices-per-view", v.engine.o.MaxVertices)
	case v.evaluator.Budget().Exceeded():
		exceeded = v.tooCostly()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.limit != nil && time.Now().After(k.retryAt):
		v.limit, k.failure = nil, ""
		v.evaluator.RenewBudget()
	case v.limit == nil && exceeded != "" && v.program != nil:
		v.limit = &delivery.ClosedError{Reason: reason.LimitExceeded, Message: exceeded}
		k.retryAt = time.Now().Add(v.engine.o.LimitRetry)
		v.synced.Store(false)
		v.interruptLocked(v.limit)
		v.notify()
	}
	return v.limit != nil
}

// tooCostly returns the reason for which a view that exceeded its owner's budget is not served.
func (v *View) tooCostly() string {
	others := "those of the other GraphViews of its namespace"
	if !v.named {
		others = "those of your other views"
	}
	if v.walksWithDepth() {
		return v.evaluator.Budget().Excess("the view's expressions, and finding what is within the depth of roots.follow whenever something changes,", others) +
			"; leave the depth out, simplify the expressions, or have label selectors or queries leave fewer objects to them"
	}
	return v.evaluator.Budget().Excess("the view's expressions", others) +
		"; simplify them, or have label selectors or queries leave fewer objects to them"
}
