package graphview

import (
	"errors"
	"testing"
	"time"

	"graphview.dev/graphview/budget"
)

// TestNarrowedGraphsAreCounted: each user has a bound, the last places are reserved for users
// with few graphs, and a released place can be used again.
func TestNarrowedGraphsAreCounted(t *testing.T) {
	g := newNarrowedGraphs()
	tokens := budget.NewBuckets(10, 10*time.Second).Bucket(ownedBy("a"))
	hold := func(name string, elements int, want *budget.Bound) {
		t.Helper()
		err := g.payer(ownedBy(name), tokens).Hold(elements)
		exceeded, _ := errors.AsType[*budget.Exceeded](err)
		if (want == nil) != (err == nil) || want != nil && (exceeded == nil || exceeded.Bound != want) {
			t.Errorf("%s holds %d: %v, want %v", name, elements, err, want)
		}
	}
	most := int(narrowedUserElements.Limit())
	hold("greedy", most+1, narrowedUserElements)
	for _, owner := range []string{"a", "b", "c"} {
		hold(owner, most-20_000, nil)
	}
	hold("d", most, narrowedElements)
	hold("d", fewNarrowed, nil)
	again := g.payer(ownedBy("e"), tokens)
	for _, elements := range []int{5000, 100, 0} {
		if err := again.Hold(elements); err != nil {
			t.Errorf("e holds %d: %v", elements, err)
		}
		if held := g.users.Held(ownedBy("e")); held != int64(elements) {
			t.Errorf("e is counted as holding %d, not %d", held, elements)
		}
	}
	if want := int64(3*(most-20_000) + fewNarrowed); g.held != want {
		t.Errorf("%d are held in all, want %d", g.held, want)
	}
}

// TestNarrowedGraphsCost: a user with an empty bucket waits, also for a walk that costs more
// than a full bucket.
func TestNarrowedGraphsCost(t *testing.T) {
	payer := newNarrowedGraphs().payer(ownedBy("a"), budget.NewBuckets(100, 10*time.Second).Bucket(ownedBy("a")))
	if wait := payer.Charge(200); wait != 0 {
		t.Errorf("a waits %v for what it has", wait)
	}
	if wait := payer.Charge(1_000_000); wait < 9*time.Second || wait > 10*time.Second {
		t.Errorf("a waits %v, want the ten seconds in which it has all again", wait)
	}
}
