package main

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/procfs"

	"graphview.dev/test/must"
)

// sample is the measurements of one process in one round. Fields that do not apply are zero.
type sample struct {
	// Seconds is the time from the start to synced.
	Seconds float64 `json:"seconds"`
	// Processor is the processor time in these seconds. Other users of the
	// machine change it less than they change the time.
	Processor float64 `json:"processor"`
	// Objects is the number of objects in memory at the end, and Arcs the number of arcs.
	Objects int `json:"objects"`
	Arcs    int `json:"arcs"`
	// Events is the number of events after the sync, EventSeconds their time,
	// and EventProcessor their processor time, in seconds.
	Events         int     `json:"events"`
	EventSeconds   float64 `json:"eventSeconds"`
	EventProcessor float64 `json:"eventProcessor"`
	// Bytes is the number of bytes read.
	Bytes int64 `json:"bytes"`
	// Idle is the resident memory of an operator without a view, and Resident that of a process
	// that has settled.
	Idle     uint64 `json:"idle"`
	Resident uint64 `json:"resident"`
	// Heap is the allocated memory after a garbage collection, at the end.
	Heap uint64 `json:"heap"`
	// One and All are an engine with one view and with all views.
	One weight `json:"one"`
	All weight `json:"all"`
}

// weight is the size of an engine.
type weight struct {
	Bytes    int64 `json:"bytes"` // heap and stacks after a garbage collection
	Watches  int   `json:"watches"`
	Vertices int   `json:"vertices"`
}

// readMemory reads the resident memory of a process.
func (s *sample) readMemory(pid int) {
	s.Resident = must.Get(must.Get(procfs.NewProc(pid)).NewStatus()).VmRSS
}

// readHeap collects garbage, and reads the allocated memory of this process.
func (s *sample) readHeap() {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // the second collection frees objects with a finalizer
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
}

// processorTime returns the processor time of a process since its start, in seconds.
func processorTime(pid int) float64 {
	return must.Get(must.Get(procfs.NewProc(pid)).Stat()).CPUTime()
}

// spent returns the processor time of a process while during runs.
func spent(pid int, during func()) float64 {
	before := processorTime(pid)
	during()
	return processorTime(pid) - before
}
