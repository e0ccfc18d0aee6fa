package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
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
func (s *sample) readMemory(pid string) error {
	status, err := readStatus(pid)
	if err != nil {
		return err
	}
	if s.Resident, err = status.kilobytes("VmRSS"); err != nil {
		return err
	}
	s.Peak, err = status.kilobytes("VmHWM")
	return err
}

// readHeap collects garbage and gives it back to the system, and takes what is
// left of this process's own memory.
func (s *sample) readHeap() error {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what has a finalizer goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	status, err := readStatus("self")
	if err != nil {
		return err
	}
	s.Collected, err = status.kilobytes("VmRSS")
	return err
}

// ticks are in a second of /proc/PID/stat, on every Linux there is.
const ticks = 100

// processorTime is what a process has used so far, in seconds.
func processorTime(pid string) (float64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read the processor time of a process: %w", err)
	}
	// The name may have spaces; what follows it begins with the third field.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, fmt.Errorf("read the processor time of a process: %q", text)
	}
	total := 0.0
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the processor time of a process: %w", err)
		}
		total += float64(n) / ticks
	}
	return total, nil
}

// status is a process's /proc/PID/status.
type status map[string]string

func readStatus(pid string) (status, error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return nil, fmt.Errorf("read the memory of a process: %w", err)
	}
	s := status{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			s[name] = strings.TrimSpace(value)
		}
	}
	return s, nil
}

// kilobytes reads a size and returns it in bytes.
func (s status) kilobytes(name string) (uint64, error) {
	number, _ := strings.CutSuffix(s[name], " kB")
	size, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s of a process: %w", name, err)
	}
	return size << 10, nil
}

// spread is one measure over the rounds.
type spread struct{ low, median, high float64 }

// spreadOf orders the values of the rounds; none is all NaN.
func spreadOf(samples []sample, value func(*sample) float64) spread {
	if len(samples) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	values := make([]float64, len(samples))
	for i := range samples {
		values[i] = value(&samples[i])
	}
	slices.Sort(values)
	n := len(values)
	return spread{values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]}
}
