package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Go lets as much garbage lie as there is in use (GOGC=100). Most of what the
// operator holds lives long and has few pointers, so that to collect more often
// costs a large one little time and saves a third of its memory, whereas a small
// one has little to save.
const (
	mostGarbage  = 100      // percent of what is in use
	leastGarbage = 30       // and where that is much
	worthIt      = 32 << 20 // bytes of garbage below which time counts more
)

// gcPercent is how much garbage may lie beside so many bytes in use.
func gcPercent(live uint64) int {
	return int(min(max(100*worthIt/max(live, 1), leastGarbage), mostGarbage))
}

// tuneCollector has the garbage collector run as often as this program is best
// served, unless GOGC says how often.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		afterCollection(mostGarbage)
	}
}

// afterCollection sets the percentage when the next collection has ended, and after each
// following one: the collector calls a finalizer.
func afterCollection(percent int) {
	// Large enough to have a block of its own, which goes when this does.
	mark := new([64]byte)
	runtime.SetFinalizer(mark, func(*[64]byte) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := gcPercent(live[0].Value.Uint64())
		if next != percent {
			debug.SetGCPercent(next)
		}
		afterCollection(next)
	})
}
