package graphview

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// unconfirmedAfter is how long a synced resource may be out of reach before
// subscribers are told: a watch that is merely re-established is no news.
const unconfirmedAfter = 10 * time.Second

// run keeps the view's watches in line with its spec, with what the cluster
// serves and with its namespaces, until the view or ctx ends.
func (v *View) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v.onEnd(cancel)
	v.backlog.begin(ctx)
	v.start()
	defer v.finish()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		catalog, discovered := v.engine.discovery.Current()
		timer.Reset(min(v.keep(ctx, catalog), markEvery))
		if old := v.horizon.pass(time.Now(), v.lens.Head()); old != 0 {
			v.engine.do(func() { v.lens.Forget(old) })
		}
		select {
		case <-v.done:
			return
		case <-v.kicks:
		case <-discovered:
		case <-timer.C:
		}
	}
}

// start gives the view its lens, finish takes everything back.
func (v *View) start() {
	v.engine.do(func() {
		v.lens = v.engine.graph.NewLens()
		v.engine.byLens[v.lens] = v
	})
	v.encoder.setLens(v.lens)
}

func (v *View) finish() {
	// First the lens, so that nothing is taken from it piece by piece.
	v.engine.do(func() {
		delete(v.engine.byLens, v.lens)
		v.lens.Close()
	})
	v.dropTaps(maps.Values(v.taps))
	v.dropTaps(maps.Keys(v.retiring))
}

// keep brings everything in line once, and returns when to look again.
func (v *View) keep(ctx context.Context, catalog *resources.Catalog) time.Duration {
	v.mu.Lock()
	p, generation := v.program, v.generation
	v.mu.Unlock()
	if v.overLimit() || p == nil {
		v.clear()
		if p != nil {
			return max(time.Second, time.Until(v.retryAt))
		}
		return time.Hour
	}
	if catalog == nil {
		return time.Second
	}
	first := generation != v.planned
	if first {
		clear(v.refused)
		v.open = true
	}
	// Without roots everything is visible, so whatever of them goes must go first,
	// and what comes last: nothing that stays is hidden meanwhile. A view that has
	// shown nothing yet begins as it is to be.
	before := v.planned == 0 || !p.rooted()
	if first && before {
		v.setRoots(p)
	}
	v.noteRefusals()
	o := v.outline(ctx, p, catalog)
	v.planned, v.within = generation, o.within
	// As long as it was open which namespaces there are, what is added belongs
	// to what the spec asked for at first.
	v.plan(ctx, p, o.needed, v.open)
	if first && !before {
		v.setRoots(p)
	}
	v.open = o.open
	if !o.open {
		// Likewise not before it is known which namespaces there are.
		v.renamespace(ctx, p)
		v.finishSwitches(ctx)
	}
	again := v.report(catalog, o, generation)
	if permit, _ := v.permitOf(p); permit != nil {
		again = min(again, v.engine.o.PermitInterval)
	}
	return again
}

// noteRefusals remembers of which resources the operator may not watch all
// namespaces at once, until the spec changes.
func (v *View) noteRefusals() {
	for n, t := range v.taps {
		if t.state().Reason == watch.Forbidden && n.resource.Namespaced && n.key.Namespace == "" {
			v.refused[n.resource] = true
		}
	}
}

func (v *View) setRoots(p *Program) {
	v.engine.do(func() { v.lens.SetRoots(p.rooted(), p.against()) })
}

// overLimit says whether the view is not served for its size or its cost, and
// begins or ends that.
func (v *View) overLimit() bool {
	exceeded := ""
	switch {
	case v.lens.Vertices() > v.engine.o.MaxVertices:
		exceeded = fmt.Sprintf("the view has more than %d visible vertices; narrow its queries, namespaces or roots, or raise --max-vertices-per-view", v.engine.o.MaxVertices)
	case v.budget.spent():
		exceeded = fmt.Sprintf("the view's expressions cost more than %d units, or all the time more than %d a second; simplify them, or have label selectors or queries leave fewer objects to them", v.engine.o.Budget, v.engine.o.Budget/budgetSeconds)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.limit != nil && time.Now().After(v.retryAt):
		v.limit = nil
		v.budget.reset(v.engine.o.Budget)
	case v.limit == nil && exceeded != "" && v.program != nil:
		v.limit = &ClosedError{Reason: reason.LimitExceeded, Message: exceeded}
		v.retryAt = time.Now().Add(v.engine.o.LimitRetry)
		v.synced.Store(false)
		v.interruptLocked(v.limit)
		v.notify()
	}
	return v.limit != nil
}

// clear releases everything while the view is not served.
func (v *View) clear() {
	if v.planned == 0 {
		return
	}
	v.empty()
	v.dropTaps(maps.Values(v.taps))
	v.dropTaps(maps.Keys(v.retiring))
	clear(v.taps)
	clear(v.retiring)
	v.scope = nil
	v.mu.Lock()
	v.rows = nil
	v.mu.Unlock()
	v.warnings.reset()
	v.planned = 0
	v.notify()
}

// empty takes all out of the lens, in slices: it may be as large as the limit and
// more, and everybody waits for one that goes at once.
func (v *View) empty() {
	v.engine.do(func() {
		var sources []graph.SourceID
		for _, taps := range [2]iter.Seq[*tap]{maps.Values(v.taps), maps.Keys(v.retiring)} {
			for t := range taps {
				t.closed = true
				sources = append(sources, t.feed.source)
			}
		}
		v.lens.Unwatch(sources...)
	})
	for leaving := true; leaving; {
		v.engine.do(func() { leaving = v.lens.Leaving() })
	}
}

// plan makes the taps that are needed and gives up those that are not. What old
// and new taps both see stays as it is.
func (v *View) plan(ctx context.Context, p *Program, needed map[need]bool, required bool) {
	replacing := make(map[graph.Kind][]need)
	for n := range needed {
		if n.query >= 0 {
			replacing[kindOf(n.resource)] = append(replacing[kindOf(n.resource)], n)
		}
	}
	var drop []*tap
	for n, t := range v.taps {
		if needed[n] {
			t.required = t.required || required
			continue
		}
		delete(v.taps, n)
		others := replacing[kindOf(n.resource)]
		if n.query < 0 || !slices.ContainsFunc(others, n.overlaps) || slices.ContainsFunc(others, func(o need) bool { return o.key == n.key }) {
			drop = append(drop, t)
			continue
		}
		// Another watch takes over once it has all there is.
		v.retiring[t] = true
	}
	// From here on only new taps decide.
	v.closeTaps(drop)
	var fresh []*tap
	for _, n := range slices.SortedFunc(maps.Keys(needed), byKey) {
		if v.taps[n] != nil {
			continue
		}
		t := &tap{view: v, need: n, required: required, acquired: time.Now()}
		if n.query < 0 {
			t.namespaces = p.namespaces
			if t.namespaces == nil {
				t.namespaces = &namespaceProgram{}
			}
		}
		if err := v.engine.acquire(ctx, t); err != nil {
			// Only because everything stops.
			v.engine.o.Logger.V(1).Info("No watch", "view", v.name.String(), "error", err.Error())
			continue
		}
		v.taps[n] = t
		fresh = append(fresh, t)
	}
	for _, t := range fresh {
		if t.namespaces == nil {
			t.judge.Store(v.judgeFor(p, t.need))
		}
	}
	v.addTaps(ctx, fresh)
	v.dropTaps(slices.Values(drop))
}

// addTaps begins to take from feeds, and shows the view what they had before.
func (v *View) addTaps(ctx context.Context, taps []*tap) {
	if len(taps) == 0 {
		return
	}
	v.engine.do(func() {
		for _, t := range taps {
			if t.need.key.Reduced {
				continue // what it tells is added to what others see
			}
			v.engine.announce(t.feed)
			if t.namespaces != nil {
				continue
			}
			v.lens.Watch(t.feed.source)
			if !v.switching(t) {
				v.lens.Use(kindOf(t.need.resource), resourceOf(t.need.resource))
			}
		}
	})
	for _, t := range taps {
		v.engine.attach(t)
		if err := v.engine.replay(ctx, t, nil); err != nil {
			v.engine.o.Logger.V(1).Info("Replay ended early", "view", v.name.String(), "watch", t.need.key.String(), "error", err.Error())
			continue
		}
		v.engine.send(funcEvent(func() {
			t.replayed.Store(true)
			v.kick()
		}))
	}
}

// closeTaps ends what taps decide; what they decided stays until they are
// dropped.
func (v *View) closeTaps(taps []*tap) {
	if len(taps) > 0 {
		v.engine.do(func() {
			for _, t := range taps {
				t.closed = true
			}
		})
	}
}

// dropTaps stops taking from feeds and gives their leases back.
func (v *View) dropTaps(seq func(func(*tap) bool)) {
	taps := slices.Collect(seq)
	if len(taps) == 0 {
		return
	}
	for _, t := range taps {
		v.engine.detach(t)
	}
	v.engine.do(func() {
		var unwatched []graph.SourceID
		for _, t := range taps {
			t.closed = true
			v.warnings.dropFaults(t)
			if t.namespaces != nil || t.need.key.Reduced {
				continue
			}
			if !v.sourceInUse(t) {
				unwatched = append(unwatched, t.feed.source)
			}
			if !v.kindInUse(t) {
				v.lens.Unuse(kindOf(t.need.resource))
			}
		}
		v.lens.Unwatch(unwatched...)
	})
	for _, t := range taps {
		v.engine.giveBack(t)
	}
}

// sourceInUse tells whether another tap of the view takes from the same feed;
// kindInUse, from any feed of the same kind.
func (v *View) sourceInUse(t *tap) bool {
	for _, other := range v.taps {
		if other != t && !other.closed && other.namespaces == nil && other.feed == t.feed {
			return true
		}
	}
	return false
}

func (v *View) kindInUse(t *tap) bool {
	for _, other := range v.taps {
		if other != t && !other.closed && other.namespaces == nil && !other.need.key.Reduced && kindOf(other.need.resource) == kindOf(t.need.resource) {
			return true
		}
	}
	return false
}

// switching tells whether the tap is of a version that waits to replace another.
func (v *View) switching(t *tap) bool {
	for old := range v.retiring {
		if kindOf(old.need.resource) == kindOf(t.need.resource) {
			return true
		}
	}
	return false
}

// finishSwitches lets other watches of a kind take the place of retiring ones as
// soon as they have all there is or were given up: a new version of a resource
// does so in one revision.
func (v *View) finishSwitches(ctx context.Context) {
	for old := range v.retiring {
		done := true
		var successors []*tap
		for _, t := range v.taps {
			if t.namespaces == nil && kindOf(t.need.resource) == kindOf(old.need.resource) {
				successors = append(successors, t)
				state := t.state()
				done = done && (t.ready(state) || state.Err != nil || time.Since(t.acquired) > v.engine.o.SyncTimeout)
			}
		}
		if !done {
			continue
		}
		delete(v.retiring, old)
		v.closeTaps([]*tap{old})
		for _, t := range successors {
			if t.need.resource == old.need.resource {
				// Of objects that both saw, the old one may have had the last word.
				v.replayAgain(ctx, t, nil)
				continue
			}
			v.engine.do(func() { v.lens.Use(kindOf(t.need.resource), resourceOf(t.need.resource)) })
		}
		v.dropTaps(slices.Values([]*tap{old}))
	}
}

// replayAgain shows a tap what it has seen before, because its view changed its
// mind, and waits until the graph has it.
func (v *View) replayAgain(ctx context.Context, t *tap, wants func(*watch.Decoded) bool) {
	if err := v.engine.replay(ctx, t, wants); err != nil {
		v.engine.o.Logger.V(1).Info("Replay ended early", "view", v.name.String(), "watch", t.need.key.String(), "error", err.Error())
	}
	v.engine.do(func() {})
}
