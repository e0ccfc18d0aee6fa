package graphview

import (
	"context"
	"time"

	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/watch"
)

// switching tells whether the tap is of a version that waits to replace another.
func (k *keeper) switching(t *tap) bool {
	for old := range k.retiring {
		if intake.KindOf(old.need.Resource) == intake.KindOf(t.need.Resource) {
			return true
		}
	}
	return false
}

// finishSwitches lets other watches of a kind take the place of retiring ones as
// soon as they have all there is or were given up: a new version of a resource
// does so in one revision. One that could not be had yet is waited for as long as one
// that has nothing yet: the old watch knows nothing of the rights that the new one
// is restricted to, and may have what the new one counts against.
func (k *keeper) finishSwitches(ctx context.Context) {
	v := k.view
	for old, since := range k.retiring {
		missing := k.missing(old)
		done := !missing || time.Since(since) > v.engine.o.SyncTimeout
		var successors []*tap
		for _, t := range k.taps {
			if !t.need.OfNamespaces() && intake.KindOf(t.need.Resource) == intake.KindOf(old.need.Resource) {
				successors = append(successors, t)
				state := t.state()
				done = done && (t.ready(state) || state.Err != nil || time.Since(t.acquired) > v.engine.o.SyncTimeout)
			}
		}
		if !done {
			continue
		}
		delete(k.retiring, old)
		k.closeTaps([]*tap{old})
		for _, t := range successors {
			if t.need.Resource == old.need.Resource {
				// Of objects that both saw, the old one may have had the last word.
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

// missing tells whether a tap is needed in the place of a retiring one that could not
// be made.
func (k *keeper) missing(old *tap) bool {
	for n := range k.needed {
		if !n.OfNamespaces() && k.taps[n] == nil && intake.KindOf(n.Resource) == intake.KindOf(old.need.Resource) && n.Overlaps(old.need) {
			return true
		}
	}
	return false
}

// replay shows the view the objects that a tap's watch retains, or those that wanted accepts, and
// returns when the graph has the verdicts. A tap is behind after a replay that ended early, until one
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
