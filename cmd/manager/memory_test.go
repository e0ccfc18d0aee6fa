package main

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

func TestGCPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 20 << 20: 100, 32 << 20: 100, 40 << 20: 80, 80 << 20: 40, 512 << 20: 30, 800 << 20: 20, 4 << 30: 15} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d MiB: %d %%, want %d", live>>20, got, want)
		}
	}
}

// Each collection decides about the next, over and over.
func TestCollectorIsTuned(t *testing.T) {
	const other = 77
	before := debug.SetGCPercent(other)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "")
	inUse := make([]byte, 240<<20)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(250 << 20))
	var relieved atomic.Uint64
	relieve := func() { relieved.Add(1) }
	tuneCollector(relieve)
	for range 3 {
		tuned := false
		for range 500 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // finalizers have a goroutine of their own
			if tuned = debug.SetGCPercent(other) == muchGarbage; tuned {
				break
			}
		}
		if !tuned {
			t.Fatal("not tuned with much in use")
		}
		afterCollection(mostGarbage, true, relieve)
	}
	if relieved.Load() == 0 {
		t.Error("nothing is relieved with nearly all memory in use")
	}
	if full(100 << 20) {
		t.Error("100 of 250 MiB are full")
	}
	runtime.KeepAlive(inUse)
}
