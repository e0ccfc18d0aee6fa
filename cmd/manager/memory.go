package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"graphview.dev/graphview/budget"
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

// full reports whether the memory in use leaves too little of the memory limit for garbage. A process
// that fills further is ended by the kernel.
func full(live uint64) bool {
	limit := uint64(budget.MemoryLimit()) //nolint:gosec // a limit is not negative
	return limit > 0 && live > limit/100*85
}

// tuneCollector adapts the frequency of garbage collections to the memory in use, unless GOGC sets it.
// It calls relieve after a collection that leaves memory full.
func tuneCollector(relieve func()) {
	afterCollection(mostGarbage, os.Getenv("GOGC") == "", relieve)
}

// afterCollection sets the percentage when the next collection has ended, and after each
// following one: the collector calls a finalizer.
func afterCollection(percent int, tune bool, relieve func()) {
	// Large enough to have a block of its own, which goes when this does.
	mark := new([64]byte)
	runtime.SetFinalizer(mark, func(*[64]byte) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live := sample[0].Value.Uint64()
		next := gcPercent(live)
		if tune && next != percent {
			debug.SetGCPercent(next)
		}
		if full(live) {
			relieve()
		}
		afterCollection(next, tune, relieve)
	})
}
