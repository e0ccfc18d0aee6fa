package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// sample has the members of the benchmark's sample that apply.
type sample struct {
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor"`
	Objects   int     `json:"objects"`
	Resident  uint64  `json:"resident"`
	Peak      uint64  `json:"peak"`
	Heap      uint64  `json:"heap"`
	Collected uint64  `json:"collected"`
}

// readMemory takes this process's resident memory and its maximum, and then
// what is left of it after a garbage collection.
func (s *sample) readMemory() error {
	var err error
	if s.Resident, err = kilobytes("VmRSS"); err != nil {
		return err
	}
	if s.Peak, err = kilobytes("VmHWM"); err != nil {
		return err
	}
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what has a finalizer goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	s.Collected, err = kilobytes("VmRSS")
	return err
}

// kilobytes reads a size of this process and returns it in bytes.
func kilobytes(name string) (uint64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the memory of this process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == name {
			size, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s of this process: %w", name, err)
			}
			return size << 10, nil
		}
	}
	return 0, fmt.Errorf("read the memory of this process: no %s", name)
}

// processorTime is what this process has used so far, in seconds.
func processorTime() (float64, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("read the processor time of this process: %w", err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(used.Utime) + seconds(used.Stime), nil
}
