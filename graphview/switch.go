package graphview

import (
	"context"
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/watch"
)

// finishSwitches replaces retiring watches of a kind once all others are synced or were given up. A
// new version of a resource takes over in one revision. A watch that could not be leased has as much
// time as a watch that is not synced: the old watch may count against the same limit.
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
				// The last verdict about an object that both saw may be that of the old one.
				k.replay(ctx, t, nil)
				continue
			}
			v.engine.writer.Do(func() { v.lens.Use(intake.KindOf(t.need.Resource), intake.ResourceOf(t.need.Resource)) })
		}
		k.dropTaps([]*tap{old})
		if missing {
			v.kick() // there may be room for it now
		}
	}
}

// successors returns the taps that replace a retiring one. missing: the plan needs another tap in its
// place, and lacks it.
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

// replay shows the view the objects that a tap's watch retains, or only the objects that wanted
// accepts, and returns when the graph has the verdicts. A tap is behind after a replay that ended early, until one
// without wanted completes.
func (k *keeper) replay(ctx context.Context, t *tap, wanted func(*watch.Decoded) bool) {
	v := k.view
	err := t.Replay(ctx, wanted == nil, func(o *watch.Decoded) bool {
		return t.concerning().Has(o.Namespace()) && (wanted == nil || wanted(o))
	})
	switch {
	case err != nil:
		v.engine.o.Logger.V(1).Info("Replay ended early", "view", v.name.String(), "watch", t.need.Key.String(), "error", err.Error())
		t.behind = true
	case wanted == nil:
		t.behind = false
		v.kick()
	}
}
