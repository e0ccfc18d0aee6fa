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

// tapSet has the taps of a view: those of its present plan, and the former ones that these will replace. Only
// the view's goroutine and, while that waits, the writer use it.
type tapSet struct {
	view     *View
	coverage *coverage

	// needed are the taps of the present plan.
	needed map[plan.Need]*tap
	// replacing are the needs of the last plan, without those in standby, which replace no tap.
	replacing map[plan.Purpose][]plan.Need
	// retiring are the taps that other taps will replace, with the time since which they wait.
	retiring map[*tap]time.Time

	// namespacesOf are the namespaces that the view's judges may have admitted, by resource.
	namespacesOf map[resources.Resource]*tapNamespaces
	// namespaces are the selected namespaces as last known, nil before they are known.
	namespaces map[string]bool
	// within and blind are Within and Blind of the last outline.
	within map[resources.Resource]map[string]bool
	blind  bool
}

func newTapSet(v *View) *tapSet {
	return &tapSet{
		view: v, coverage: &coverage{view: v}, needed: make(map[plan.Need]*tap), retiring: make(map[*tap]time.Time),
		namespacesOf: make(map[resources.Resource]*tapNamespaces),
	}
}

// all returns the taps of the present plan and the retiring ones.
func (s *tapSet) all() []*tap {
	return slices.AppendSeq(slices.Collect(maps.Values(s.needed)), maps.Keys(s.retiring))
}

// set adds the needed taps and removes the others. Objects of both old and new taps stay in the
// view. A tap that was complete retires: it stays until other taps replace it, unless an older tap is
// already retiring for the same purpose. So after any number of changes, a view has only the watches
// of the present spec and of the last complete one.
func (s *tapSet) set(ctx context.Context, p *spec.Program, outline *plan.Outline) {
	v := s.view
	s.replacing = make(map[plan.Purpose][]plan.Need)
	for n := range outline.Needed {
		if !outline.Standby[n] {
			s.replacing[n.Purpose()] = append(s.replacing[n.Purpose()], n)
		}
	}
	standIns := slices.Collect(maps.Keys(s.retiring))
	var drop, useless, behind []*tap
	for n, t := range s.needed {
		if outline.Needed[n] {
			if t.needsReplay() {
				behind = append(behind, t)
			}
			continue
		}
		delete(s.needed, n)
		switch {
		case !t.hasSuccessor(s.replacing[n.Purpose()]):
			drop = append(drop, t)
		case !t.wasComplete() || slices.ContainsFunc(standIns, t.hasStandIn):
			useless = append(useless, t)
		default:
			s.retiring[t] = time.Now()
		}
	}
	s.close(useless)
	s.drop(useless)
	// From here on, the writer ignores verdicts of the taps to drop.
	s.close(drop)
	var fresh []*tap
	for _, n := range slices.SortedFunc(maps.Keys(outline.Needed), plan.ByKey) {
		if s.needed[n] != nil {
			continue
		}
		t := newTap(n, p)
		if err := v.engine.acquire(ctx, t, v); err != nil {
			// The engine is stopping, or the spec has changed.
			v.engine.o.Logger.V(1).Info("No watch", "view", v.name.String(), "error", err.Error())
			continue
		}
		s.needed[n] = t
		fresh = append(fresh, t)
	}
	for _, t := range fresh {
		if !t.need.OfNamespaces() {
			s.setJudge(t, s.judgeFor(p, t.need))
		}
	}
	s.add(ctx, fresh)
	for _, t := range behind {
		s.replay(ctx, t, nil)
	}
	s.drop(drop)
}

// hasSuccessor reports whether other watches will bring objects of a tap for its purpose. The needs are
// those of this purpose in the plan.
func (t *tap) hasSuccessor(needs []plan.Need) bool {
	sameWatch := func(n plan.Need) bool { return n.Key == t.need.Key }
	return !t.need.OfNamespaces() && slices.ContainsFunc(needs, t.need.Overlaps) && !slices.ContainsFunc(needs, sameWatch)
}

// hasStandIn reports whether a retiring tap may have the objects of a tap for the same purpose.
func (t *tap) hasStandIn(retiring *tap) bool {
	return retiring.need.Purpose() == t.need.Purpose() && retiring.need.Overlaps(t.need)
}

// add attaches taps to their feeds, and replays the objects that their watches retain.
func (s *tapSet) add(ctx context.Context, taps []*tap) {
	v := s.view
	if len(taps) == 0 {
		return
	}
	switching := make(map[plan.Purpose]bool) // purposes of retiring taps
	for old := range s.retiring {
		switching[old.need.Purpose()] = true
	}
	v.engine.writer.Do(func() {
		for _, t := range taps {
			if t.need.OfReleases() {
				continue // releases are added to the objects of other watches
			}
			t.lease.Feed.Announce()
			if t.need.OfNamespaces() {
				continue
			}
			v.lens.Watch(t.lease.Feed.Source())
			if !switching[t.need.Purpose()] {
				v.lens.Use(intake.KindOf(t.need.Resource), intake.ResourceOf(t.need.Resource))
			}
		}
	})
	for _, t := range taps {
		t.attach()
		s.replay(ctx, t, nil)
	}
}

// close makes the writer ignore further verdicts of taps. Earlier ones stay until drop.
func (s *tapSet) close(taps []*tap) {
	if len(taps) > 0 {
		s.view.engine.writer.Do(func() {
			for _, t := range taps {
				t.Close()
			}
		})
	}
}

// drop detaches taps from their feeds, and releases their leases.
func (s *tapSet) drop(taps []*tap) {
	if len(taps) == 0 {
		return
	}
	v := s.view
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
		feeds, kinds := s.inUse()
		var unwatched []graph.SourceID
		for _, t := range taps {
			if !t.need.OfObjects() {
				continue
			}
			if !feeds[t.lease.Feed] {
				unwatched = append(unwatched, t.lease.Feed.Source())
			}
			if kind := intake.KindOf(t.need.Resource); !kinds[kind] && !s.coverage.denied[kind] {
				s.coverage.unuse(kind)
			}
		}
		v.lens.Unwatch(unwatched...)
	})
	for _, t := range taps {
		v.engine.intake.Release(t.lease)
	}
}

// unuseDenied removes from the lens the previously denied kinds that are no longer denied or watched.
func (s *tapSet) unuseDenied() {
	if len(s.coverage.previous) > 0 {
		s.view.engine.writer.Do(func() {
			_, watched := s.inUse()
			s.coverage.unuseDenied(watched)
		})
	}
}

// inUse returns the feeds and kinds of the taps that are not closed. Taps of
// Namespaces and releases do not count. Only the writer calls it.
func (s *tapSet) inUse() (feeds map[*intake.Feed]bool, kinds map[graph.Kind]bool) {
	feeds, kinds = make(map[*intake.Feed]bool), make(map[graph.Kind]bool)
	for _, t := range s.all() {
		if t.need.OfObjects() && t.State() != intake.Closed {
			feeds[t.lease.Feed], kinds[intake.KindOf(t.need.Resource)] = true, true
		}
	}
	return feeds, kinds
}

// finishSwitches drops a retiring tap once all its successors have synced, failed or timed out. A new
// version of a resource replaces the old one in one revision. A successor that could not be leased
// has as much time as one that is not synced: the old watch may count against the same limit.
func (s *tapSet) finishSwitches(ctx context.Context) {
	v := s.view
	for old, since := range s.retiring {
		successors, missing := s.successors(old)
		done := !missing || time.Since(since) > v.engine.o.SyncTimeout
		for _, t := range successors {
			state := t.state()
			done = done && (t.ready(state) || state.Err != nil || time.Since(t.acquired) > v.engine.o.SyncTimeout)
		}
		if !done {
			continue
		}
		delete(s.retiring, old)
		s.close([]*tap{old})
		for _, t := range successors {
			if t.need.Resource == old.need.Resource || t.need.OfReleases() {
				// The last verdict about an object of both taps may be from the old one.
				s.replay(ctx, t, nil)
				continue
			}
			v.engine.writer.Do(func() { v.lens.Use(intake.KindOf(t.need.Resource), intake.ResourceOf(t.need.Resource)) })
		}
		s.drop([]*tap{old})
		if missing {
			v.evaluator.Kick() // the missing watch may be leased now
		}
	}
}

// successors returns the taps that replace a retiring one. missing: another need of the plan that
// replaces it has no tap yet.
func (s *tapSet) successors(old *tap) (taps []*tap, missing bool) {
	for _, n := range s.replacing[old.need.Purpose()] {
		if t := s.needed[n]; t != nil {
			taps = append(taps, t)
		} else {
			missing = missing || n.Overlaps(old.need)
		}
	}
	return taps, missing
}

// replay evaluates the objects that a tap's watch retains and, unless wanted is nil, that wanted
// accepts. It returns when the graph has the verdicts.
func (s *tapSet) replay(ctx context.Context, t *tap, wanted func(*watch.Decoded) bool) {
	v := s.view
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

// acquire leases a watch for a tap of a view, and connects the tap to its feed.
func (e *Engine) acquire(ctx context.Context, t *tap, v *View) error {
	e.mu.Lock()
	life := e.viewsCtx
	e.mu.Unlock()
	lease, started, err := e.intake.Acquire(ctx, life, t.need.Key, t.need.Resource)
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.need.Key, err)
	}
	if started {
		e.schemaReader.Kick()
	}
	t.lease = lease
	t.Tap = intake.NewTap(v.evaluator, lease.Feed, t.role)
	return nil
}
