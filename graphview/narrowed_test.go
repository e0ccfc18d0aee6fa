package graphview

import (
	"testing"
	"time"

	"graphview.dev/graphview/budget"
)

// TestNarrowedGraphsCost: a user with an empty bucket waits, also for a walk that costs more
// than a full bucket.
func TestNarrowedGraphsCost(t *testing.T) {
	payer := narrowedPayer{tokens: budget.NewBuckets(100, 10*time.Second).Bucket(ownedBy("a"))}
	if wait := payer.Charge(200); wait != 0 {
		t.Errorf("a waits %v for what it has", wait)
	}
	if wait := payer.Charge(1_000_000); wait < 9*time.Second || wait > 10*time.Second {
		t.Errorf("a waits %v, want the ten seconds in which it has all again", wait)
	}
}

// TestNarrowedGraphsAreHeld: the elements of a narrowed graph are charged to its user until it
// is closed.
func TestNarrowedGraphsAreHeld(t *testing.T) {
	ledger := budget.NewLedger(100 * narrowedBytes)
	one, two := newNarrowedPayer(ledger.Account(ownedBy("a")), nil), newNarrowedPayer(ledger.Account(ownedBy("a")), nil)
	for i, step := range []struct {
		payer    *narrowedPayer
		elements int
		refused  bool
	}{{one, 50, false}, {two, 1, true}, {one, 20, false}, {two, 30, false}, {two, 31, true}, {one, 0, false}, {two, 50, false}} {
		if err := step.payer.Hold(step.elements); (err != nil) != step.refused {
			t.Errorf("step %d: %v", i, err)
		}
	}
	// While memory is short, what holds most is refused when it is next read.
	if _, ok := ledger.Relieve(); !ok {
		t.Fatal("nobody gives back")
	}
	if err := two.Hold(10); err == nil {
		t.Error("it holds what it had to give back")
	}
	if err := two.Hold(0); err != nil || ledger.Total() != 0 {
		t.Errorf("after Hold(0): %v, %d bytes", err, ledger.Total())
	}
}
