package faults

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"graphview.dev/test/fixture"
)

// The bounds on what an episode may leave behind for a while: connections that are closed
// later, filled pools, and a varying number of objects of the workload.
const (
	moreGoroutines = 24
	moreHeap       = 48 << 20
)

// residue is what there is between episodes, of the engines and of all that the test
// has around it.
type residue struct {
	watches, goroutines int
	heap                uint64
}

func residueOf(scenes []*scene) residue {
	r := residue{goroutines: runtime.NumGoroutine(), heap: heap()}
	for _, s := range scenes {
		r.watches += s.engine.current().Watches()
	}
	return r
}

func (r residue) String() string {
	return fmt.Sprintf("%d watches, %d goroutines, %.1f MiB", r.watches, r.goroutines, float64(r.heap)/(1<<20))
}

// settle waits until nothing of an episode is left but what was there before: the
// same watches, and no more goroutines and memory.
func settle(ctx context.Context, scenes []*scene, before residue) (after residue, err error) {
	why := fixture.Wait(ctx, healsWithin, 4*pollInterval, func() string {
		after = residueOf(scenes)
		n := len(scenes)
		if after.watches != before.watches || after.goroutines > before.goroutines+n*moreGoroutines || after.heap > before.heap+uint64(n)*moreHeap {
			return fmt.Sprintf("there are %s; before the first episode there were %s", after, before)
		}
		return ""
	})
	if why != "" {
		err = errors.New(why)
	}
	return after, err
}
