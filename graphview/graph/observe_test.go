package graph

import "testing"

// TestLensesAreObserved: the observer is called for each lens that a revision changes, before a
// reader can see the revision, also for lenses that are committed with the graph unlocked.
func TestLensesAreObserved(t *testing.T) {
	c := newCrossroads(1_000, 3)
	c.g.commitVisits = 700
	told := map[*Lens]uint64{}
	aside := 0
	c.g.ObserveLenses(func(l *Lens, head uint64) bool {
		told[l] = head
		switch {
		case l.Committing() != nil:
			aside++
		case c.g.mu.TryRLock():
			c.g.mu.RUnlock()
			t.Error("a reader could have read it before")
		}
		return true
	})
	for _, change := range []func(){
		func() { c.set("Pod", "shop", "pod-1", nil, nil) },
		func() { c.large.SetInferred(false) },
		func() { c.large.SetRoots(true, Walk{Direction: Down, Depth: 2}) },
		func() { c.g.Remove(c.nodes, "", "node") },
	} {
		clear(told)
		revised := c.g.Update(change)
		if len(told) != len(revised) {
			t.Errorf("told of %d lenses, %d have changed", len(told), len(revised))
		}
		for _, l := range revised {
			if told[l] != l.Head() {
				t.Errorf("told of revision %d of a lens, it is %d", told[l], l.Head())
			}
		}
		c.drain()
	}
	if aside == 0 {
		t.Error("no lens was committed with the graph unlocked")
	}
}
