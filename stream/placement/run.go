package placement

import (
	"context"
	"time"
)

// Run moves subscribers to the owners of their views, and gives up views that are idle here, until
// ctx is done.
func (t *Table) Run(ctx context.Context) error {
	timer := time.NewTimer(sweep)
	defer timer.Stop()
	changed := t.o.Members.Changed()
	t.membersChanged()
	for {
		select {
		case <-timer.C:
		case <-changed:
			changed = t.o.Members.Changed()
			t.membersChanged()
		case <-t.leaving:
		case <-ctx.Done():
			return nil
		}
		t.requeue()
		pause := sweep
		if t.move(ctx) {
			pause = hurry
		}
		timer.Reset(pause)
		for _, e := range t.idle() {
			if err := t.reconcile(ctx, e); err != nil && ctx.Err() == nil {
				t.o.Logger.V(1).Info("a view that is given up", "view", e.name.String(), "cause", err.Error())
			}
		}
	}
}

// idle returns the views that the engine has and need not have.
func (t *Table) idle() []*entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*entry
	for _, e := range t.entries {
		if e.applied && e.spec != nil && !t.holdsLocked(e) {
			out = append(out, e)
		}
	}
	return out
}
