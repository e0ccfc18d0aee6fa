package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/procfs"

	"graphview.dev/test/must"
)

// sample is the measurements of one process in one round. Fields that do not apply are zero.
type sample struct {
	// Seconds from nothing to synced.
	Seconds float64 `json:"seconds"`
	// Processor time that it took meanwhile, in seconds. Other users of the
	// machine change it less than they change the time.
	Processor float64 `json:"processor"`
	// Ready is the time until the GraphView's condition Ready, in seconds.
	Ready float64 `json:"ready"`
	// Objects is the number of objects held at the end.
	Objects int `json:"objects"`
	// Arcs is the number of arcs in its graph.
	Arcs int `json:"arcs"`
	// Events is the number of events after the sync, EventSeconds the time that they took,
	// and EventProcessor the processor time in it, in seconds.
	Events         int     `json:"events"`
	EventSeconds   float64 `json:"eventSeconds"`
	EventProcessor float64 `json:"eventProcessor"`
	// IdleProcessor is the processor time of an idle period.
	IdleProcessor float64 `json:"idleProcessor"`
	// Bytes is the number of bytes read.
	Bytes int64 `json:"bytes"`
	// Took has the time of each subscriber in a crowd.
	Took []time.Duration `json:"took,omitempty"`
	// Resident memory: before there was anything to hold, when it had settled,
	// and the most it ever was.
	Idle     uint64 `json:"idle"`
	Resident uint64 `json:"resident"`
	Peak     uint64 `json:"peak"`
	// Heap is what was allocated after a garbage collection, at the end, and
	// Collected the resident memory when the rest was given back to the system.
	Heap      uint64 `json:"heap"`
	Collected uint64 `json:"collected"`
}

// readMemory takes the resident memory of a process, and its maximum.
func (s *sample) readMemory(pid int) {
	status := must.Get(must.Get(procfs.NewProc(pid)).NewStatus())
	s.Resident, s.Peak = status.VmRSS, status.VmHWM
}

// readHeap collects garbage and gives it back to the system, and takes what is
// left of this process's own memory.
func (s *sample) readHeap() {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what has a finalizer goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	s.Collected = must.Get(must.Get(procfs.Self()).NewStatus()).VmRSS
}

// processorTime is what a process has used so far, in seconds.
func processorTime(pid int) float64 {
	return must.Get(must.Get(procfs.NewProc(pid)).Stat()).CPUTime()
}

// spent is the processor time that a process uses during something.
func spent(pid int, during func()) float64 {
	before := processorTime(pid)
	during()
	return processorTime(pid) - before
}
