package graphview

import (
	"testing"

	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/watch"
)

// TestPanicLeavesNoLock: step recovers a panic of the keeper, so the engine's lock must be free after one.
func TestPanicLeavesNoLock(t *testing.T) {
	k := keepByHand(t, Options{}, 1)
	broken := plan.Need{Key: watch.Key{LabelSelector: "a=b"}}
	k.taps[broken] = &tap{need: broken} // it has no feed
	defer delete(k.taps, broken)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a tap without a feed does not panic")
			}
		}()
		_ = k.holdWatches(nil)
	}()
	if !k.view.engine.mu.TryLock() {
		t.Fatal("the panic leaves the engine locked")
	}
	k.view.engine.mu.Unlock()
}
