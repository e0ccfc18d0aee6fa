package faults

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"graphview.dev/test/fixture"
)

// What an episode may leave behind for a while: connections that are closed later,
// pools that have filled, and objects of the workload, of which there are not always
// as many.
const (
	moreGoroutines = 24
	moreHeap       = 48 << 20
)

// residue is what there is between episodes, of the engine and of all that the test
// has around it.
type residue struct {
	watches, goroutines int
	heap                uint64
}

func (s *scene) residue() residue {
	return residue{watches: s.engine.current().Watches(), goroutines: runtime.NumGoroutine(), heap: heap()}
}

func (r residue) String() string {
	return fmt.Sprintf("%d watches, %d goroutines, %.1f MiB", r.watches, r.goroutines, float64(r.heap)/(1<<20))
}

// settle waits until nothing of an episode is left but what was there before: the
// same watches, and no more goroutines and memory.
func (s *scene) settle(ctx context.Context, before residue) (after residue, err error) {
	why := fixture.Wait(ctx, healsWithin, 4*pollInterval, func() string {
		after = s.residue()
		if after.watches != before.watches || after.goroutines > before.goroutines+moreGoroutines || after.heap > before.heap+moreHeap {
			return fmt.Sprintf("there are %s; before the first episode there were %s", after, before)
		}
		return ""
	})
	if why != "" {
		err = errors.New(why)
	}
	return after, err
}
