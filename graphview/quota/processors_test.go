package quota

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/quarantine"
)

// TestWaitingIsNotToBlame: work that waits for a turn when the process ends is not refused, and
// neither is the work that it is part of. Work that has a turn is refused.
func TestWaitingIsNotToBlame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		journal := open(t, dir)
		p := NewProcessors(Options{Journal: journal})
		ctx, stop := context.WithCancel(t.Context())
		within := func(ctx context.Context, owner budget.Owner, name string) context.Context {
			task, err := p.Begin(ctx, owner, quarantine.Work{Kind: "GraphView", Namespace: "shop", Name: name})
			if err != nil {
				t.Error(err)
			}
			return task.Within(ctx)
		}
		a, b := budget.NamespaceOwner("a"), budget.NamespaceOwner("b")
		for range maxTurns {
			go func() { _, _ = p.Turn(a)(within(ctx, a, "at work")) }()
		}
		synctest.Wait()
		go func() {
			if _, err := p.Turn(b)(within(within(ctx, b, "outer"), b, "inner")); err == nil {
				t.Error("there are more turns than maxTurns")
			}
		}()
		synctest.Wait()
		journal.Beat(time.Now().Add(2*quarantine.HighWater), quarantine.Memory{})
		refusals := open(t, dir).Refusals()
		stop()
		synctest.Wait()
		if len(refusals) != 1 || refusals[0].Work.Name != "at work" {
			t.Errorf("refused: %v, want what is at work", refusals)
		}
	})
}

func open(t *testing.T, dir string) *quarantine.Journal {
	t.Helper()
	journal, err := quarantine.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return journal
}
