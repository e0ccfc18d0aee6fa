package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"graphview.dev/graphview/budget"
)

// By default Go allows as much garbage as there is memory in use (GOGC=100). Most of the
// operator's memory is long-lived and has few pointers. So an operator with much memory in use collects more
// often, which takes little time and saves a third of its memory; a small
// operator has little to save.
const (
	mostGarbage  = 100       // percent of the memory in use
	littleMemory = 32 << 20  // bytes of garbage below which time counts more
	muchGarbage  = 30        // percent, up to plenty
	plenty       = 160 << 20 // bytes of garbage above which collections are rare, even with less of it
	leastGarbage = 15        // percent, if very much memory is in use
)

// gcPercent returns the percentage of garbage beside so many bytes in use.
func gcPercent(live uint64) int {
	percent := max(100*littleMemory/max(live, 1), muchGarbage)
	return int(min(percent, max(100*plenty/max(live, 1), leastGarbage), mostGarbage))
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

// afterCollection sets the percentage after the next collection and after each
// following one, in a finalizer that the collector calls.
func afterCollection(percent int, tune bool, relieve func()) {
	// Smaller values share a block of memory, so that they may live longer than their last reference.
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
