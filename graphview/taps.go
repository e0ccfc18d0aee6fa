package graphview

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// setTaps adds the needed taps and removes the others. Objects of both old and new taps stay in the
// view. A tap that was complete retires: it stays until other taps replace it, unless an older tap is
// already retiring for the same purpose. So after any number of changes, a view has only the watches
// of the present spec and of the last complete one.
func (k *keeper) setTaps(ctx context.Context, p *spec.Program, outline *plan.Outline) {
	v := k.view
	needed := outline.Needed
	k.replacing = make(map[plan.Purpose][]plan.Need)
	for n := range needed {
		if !outline.Standby[n] {
			k.replacing[n.Purpose()] = append(k.replacing[n.Purpose()], n)
		}
	}
	standIns := slices.Collect(maps.Keys(k.retiring))
	var drop, useless, behind []*tap
	for n, t := range k.taps {
		if needed[n] {
			if t.needsReplay() {
				behind = append(behind, t)
			}
			continue
		}
		delete(k.taps, n)
		others := k.replacing[n.Purpose()]
		switch {
		case n.OfNamespaces() || !slices.ContainsFunc(others, n.Overlaps) || slices.ContainsFunc(others, func(o plan.Need) bool { return o.Key == n.Key }):
			drop = append(drop, t)
		case !t.wasComplete() || slices.ContainsFunc(standIns, func(old *tap) bool { return old.replaces(t) }):
			useless = append(useless, t)
		default:
			// Another watch replaces it once that watch has synced.
			k.retiring[t] = time.Now()
		}
	}
	k.closeTaps(useless)
	k.dropTaps(useless)
	// From here on, the writer ignores verdicts of the taps to drop.
	k.closeTaps(drop)
	var fresh []*tap
	for _, n := range slices.SortedFunc(maps.Keys(needed), plan.ByKey) {
		if k.taps[n] != nil {
			continue
		}
		t := newTap(n, p)
		if err := v.engine.acquire(ctx, t, v); err != nil {
			// The engine is stopping, or the spec has changed.
			v.engine.o.Logger.V(1).Info("No watch", "view", v.name.String(), "error", err.Error())
			continue
		}
		k.taps[n] = t
		fresh = append(fresh, t)
	}
	for _, t := range fresh {
		if !t.need.OfNamespaces() {
			k.install(t, k.judgeFor(p, t.need))
		}
	}
	k.addTaps(ctx, fresh)
	for _, t := range behind {
		k.replay(ctx, t, nil)
	}
	k.dropTaps(drop)
}

// replaces reports whether two taps may have the same objects for the same purpose.
func (t *tap) replaces(other *tap) bool {
	return t.need.Purpose() == other.need.Purpose() && t.need.Overlaps(other.need)
}

// addTaps attaches taps to their feeds, and replays the objects that their watches retain.
func (k *keeper) addTaps(ctx context.Context, taps []*tap) {
	v := k.view
	if len(taps) == 0 {
		return
	}
	switching := make(map[plan.Purpose]bool) // purposes of retiring taps
	for old := range k.retiring {
		switching[old.need.Purpose()] = true
	}
	v.engine.writer.Do(func() {
		for _, t := range taps {
			if t.need.OfReleases() {
				continue // releases are added to the objects of other watches
			}
			t.feed.Announce()
			if t.need.OfNamespaces() {
				continue
			}
			v.lens.Watch(t.feed.Source())
			if !switching[t.need.Purpose()] {
				v.lens.Use(intake.KindOf(t.need.Resource), intake.ResourceOf(t.need.Resource))
			}
		}
	})
	for _, t := range taps {
		t.attach()
		k.replay(ctx, t, nil)
	}
}

// closeTaps makes the writer ignore further verdicts of taps. Earlier ones stay until dropTaps.
func (k *keeper) closeTaps(taps []*tap) {
	if len(taps) > 0 {
		k.view.engine.writer.Do(func() {
			for _, t := range taps {
				t.Close()
			}
		})
	}
}

// dropTaps detaches taps from their feeds, and releases their leases.
func (k *keeper) dropTaps(taps []*tap) {
	if len(taps) == 0 {
		return
	}
	v := k.view
	for _, t := range taps {
		t.detach()
		if t.namespaces != nil {
			t.namespaces.settled = false
		}
	}
	v.engine.writer.Do(func() {
		for _, t := range taps {
			t.Close()
			t.DropFaults()
		}
		feeds, kinds := k.inUse()
		var unwatched []graph.SourceID
		for _, t := range taps {
			if !t.need.OfObjects() {
				continue
			}
			if !feeds[t.feed] {
				unwatched = append(unwatched, t.feed.Source())
			}
			if kind := intake.KindOf(t.need.Resource); !kinds[kind] {
				k.unuse(kind)
			}
		}
		v.lens.Unwatch(unwatched...)
	})
	for _, t := range taps {
		v.engine.releaseTap(t)
	}
}

// finishSwitches drops a retiring tap once all its successors have synced, failed or timed out. A new
// version of a resource replaces the old one in one revision. A successor that could not be leased
// has as much time as one that is not synced: the old watch may count against the same limit.
func (k *keeper) finishSwitches(ctx context.Context) {
	v := k.view
	for old, since := range k.retiring {
		successors, missing := k.successors(old)
		done := !missing || time.Since(since) > v.engine.o.SyncTimeout
		for _, t := range successors {
			state := t.state()
			done = done && (t.ready(state) || state.Err != nil || time.Since(t.acquired) > v.engine.o.SyncTimeout)
		}
		if !done {
			continue
		}
		delete(k.retiring, old)
		k.closeTaps([]*tap{old})
		for _, t := range successors {
			if t.need.Resource == old.need.Resource || t.need.OfReleases() {
				// The last verdict about an object of both taps may be from the old one.
				k.replay(ctx, t, nil)
				continue
			}
			v.engine.writer.Do(func() { v.lens.Use(intake.KindOf(t.need.Resource), intake.ResourceOf(t.need.Resource)) })
		}
		k.dropTaps([]*tap{old})
		if missing {
			v.evaluator.Kick() // the missing watch may be leased now
		}
	}
}

// successors returns the taps that replace a retiring one. missing: another need of the plan that
// replaces it has no tap yet.
func (k *keeper) successors(old *tap) (taps []*tap, missing bool) {
	for _, n := range k.replacing[old.need.Purpose()] {
		if t := k.taps[n]; t != nil {
			taps = append(taps, t)
		} else {
			missing = missing || n.Overlaps(old.need)
		}
	}
	return taps, missing
}

// replay evaluates the objects that a tap's watch retains and, unless wanted is nil, that wanted
// accepts. It returns when the graph has the verdicts.
func (k *keeper) replay(ctx context.Context, t *tap, wanted func(*watch.Decoded) bool) {
	v := k.view
	err := t.Replay(ctx, wanted == nil, func(o *watch.Decoded) bool {
		return t.concerning().Has(o.Namespace()) && (wanted == nil || wanted(o))
	})
	switch {
	case err != nil:
		v.engine.o.Logger.V(1).Info("Replay ended early", "view", v.name.String(), "watch", t.need.Key.String(), "error", err.Error())
	case wanted == nil:
		v.evaluator.Kick()
	}
}

// install replaces the judge of a tap, after it has extended the namespaces for which the watch asks the
// tap by those of the judge.
func (k *keeper) install(t *tap, j *intake.Judge) {
	r := t.need.Resource
	n := k.namespacesOf[r]
	if n == nil {
		n = new(tapNamespaces)
		k.namespacesOf[r] = n
	}
	if t.namespaces == nil {
		t.feed.Taps().Move(t.Tap, intake.AllNamespaces, &n.Namespaces)
		t.namespaces = n
	}
	n.settled = false
	added, all := n.Extend(j)
	for _, other := range k.allTaps() {
		if other.namespaces != n {
			continue
		}
		if all {
			other.feed.Taps().Move(other.Tap, &n.Namespaces, intake.AllNamespaces)
		} else {
			other.feed.Taps().Extend(other.Tap, added)
		}
	}
	if all {
		n.SetAll()
	}
	t.SetJudge(j)
}

// settleNamespaces removes the namespaces that the view no longer selects from the indexes. It waits
// until verdicts of the present judges have replaced those of earlier ones, for all taps of a resource.
func (k *keeper) settleNamespaces() {
	unsettled := make(map[resources.Resource][]*tap)
	for r, n := range k.namespacesOf {
		if !n.settled {
			unsettled[r] = nil
		}
	}
	if len(unsettled) == 0 {
		return
	}
	for _, t := range k.allTaps() {
		if _, ok := unsettled[t.need.Resource]; ok && t.namespaces != nil {
			unsettled[t.need.Resource] = append(unsettled[t.need.Resource], t)
		}
	}
	for r, taps := range unsettled {
		if len(taps) == 0 {
			delete(k.namespacesOf, r)
			continue
		}
		n := k.namespacesOf[r]
		next, ok := k.admitted(taps)
		if !ok {
			continue
		}
		for _, t := range taps {
			t.feed.Taps().Move(t.Tap, &n.Namespaces, &next.Namespaces)
		}
		*n = *next
	}
}

// admitted returns the namespaces that the judges of taps may admit. ok is false while one of the taps
// may have selected objects of other namespaces.
func (k *keeper) admitted(taps []*tap) (n *tapNamespaces, ok bool) {
	n = &tapNamespaces{settled: true}
	for _, t := range taps {
		j := t.Judge()
		if k.taps[t.need] != t || t.needsReplay() || j.Waits {
			return nil, false
		}
		if _, all := n.Extend(j); all {
			n.SetAll()
		}
	}
	return n, true
}

// replayChangedNamespaces replays the objects of namespaces that the view has begun or ceased to select.
func (k *keeper) replayChangedNamespaces(ctx context.Context, p *spec.Program) {
	for _, t := range k.taps {
		if t.need.OfNamespaces() {
			continue
		}
		old, now := t.Judge(), k.judgeFor(p, t.need)
		if now.Waits || old.Waits == now.Waits && (old.Namespaces == nil) == (now.Namespaces == nil) && maps.Equal(old.Namespaces, now.Namespaces) {
			continue
		}
		k.install(t, now)
		k.replay(ctx, t, func(o *watch.Decoded) bool {
			return old.Waits || old.Admits(o.Namespace()) != now.Admits(o.Namespace())
		})
	}
}

// acquire leases a watch for a tap of a view, and connects the tap to its feed.
func (e *Engine) acquire(ctx context.Context, t *tap, v *View) error {
	key := t.need.Key
	key.Kind, key.Namespaced = t.need.Resource.Kind, t.need.Resource.Namespaced
	e.mu.Lock()
	defer e.mu.Unlock()
	// The first event may arrive before Acquire returns, so Acquire creates the feed.
	lease, err := e.watches.Acquire(ctx, key, func(w *watch.Watch) watch.Handler {
		f := e.intake.NewFeed(e.viewsCtx, w, t.need.Resource)
		e.feeds[w] = f
		e.schemaReader.Kick()
		return f
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.need.Key, err)
	}
	t.lease, t.feed = lease, e.feeds[lease.Watch()]
	t.Tap = intake.NewTap(v.evaluator, t.feed, t.role)
	return nil
}

// releaseTap releases the lease of a tap. With the last lease of a feed, it removes the feed, and the
// objects that only this feed saw, from the graph.
func (e *Engine) releaseTap(t *tap) {
	if !t.lease.Release() {
		return
	}
	// The watch has ended, and no view can lease it again.
	e.mu.Lock()
	delete(e.feeds, t.feed.Watch())
	e.mu.Unlock()
	e.writer.Do(t.feed.Remove)
}
