//go:build !race

package graphview

import (
	"fmt"
	"testing"
)

// TestSyncedIsCompleteForManySeeds is TestSyncedIsComplete for more seeds, without the race detector.
func TestSyncedIsCompleteForManySeeds(t *testing.T) {
	for seed := uint64(racingSeeds); seed < 40; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { syncedIsComplete(t, seed) })
	}
}
