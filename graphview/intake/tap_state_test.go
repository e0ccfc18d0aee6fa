package intake

import (
	"fmt"
	"testing"
)

// TestTapState: each event leads from each state to the state in the table of Tap.on.
func TestTapState(t *testing.T) {
	t.Parallel()
	for ev, want := range map[tapEvent][Closed + 1]TapState{
		tapReplayed:    {Filling, Filling, Complete, Complete, Closed},
		tapInterrupted: {Replaying, Replaying, Behind, Behind, Closed},
		tapEnqueued:    {Replaying, Filling, Filling, Behind, Closed},
		tapAdvanced:    {Replaying, Filling, Complete, Behind, Closed},
		tapClosed:      {Closed, Closed, Closed, Closed, Closed},
	} {
		for from, to := range want {
			for _, full := range []bool{false, true} {
				t.Run(fmt.Sprintf("event %d in state %d, all objects evaluated: %t", ev, from, full), func(t *testing.T) {
					t.Parallel()
					tap := NewTap(new(Evaluator), new(Feed), ObjectRole{})
					tap.state.Store(int32(from))
					tap.feed.listed.Store(full)
					tap.on(ev)
					want := to
					if full && to == Filling {
						want = Complete
					}
					if now := tap.State(); now != want {
						t.Errorf("state %d, want %d", now, want)
					}
					tap.feed.listed.Store(true)
					tap.pending = 1
					if tap.on(tapAdvanced); tap.State() != want {
						t.Errorf("state %d while the backlog has objects, want %d", tap.State(), want)
					}
				})
			}
		}
	}
}
