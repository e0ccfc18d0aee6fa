package main

import (
	"math"
	"os"
	"slices"
	"testing"
)

func TestSpreadOf(t *testing.T) {
	seconds := func(s *sample) float64 { return s.Seconds }
	for name, c := range map[string]struct {
		samples []sample
		want    spread
		median  float64
	}{
		"one":  {[]sample{{Seconds: 2}}, spread{2}, 2},
		"odd":  {[]sample{{Seconds: 9}, {Seconds: 1}, {Seconds: 2}}, spread{1, 2, 9}, 2},
		"even": {[]sample{{Seconds: 4}, {Seconds: 1}, {Seconds: 2}, {Seconds: 9}}, spread{1, 2, 4, 9}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spreadOf(c.samples, seconds); !slices.Equal(got, c.want) || got.median() != c.median {
				t.Errorf("got %v, median %v, want %v, %v", got, got.median(), c.want, c.median)
			}
		})
	}
	if got := spreadOf(nil, seconds); !math.IsNaN(got.median()) {
		t.Errorf("of nothing: %+v, want NaN", got)
	}
}

func TestReadMemory(t *testing.T) {
	var s sample
	s.readMemory(os.Getpid())
	if s.Resident == 0 || s.Peak < s.Resident {
		t.Errorf("resident %d, at most %d", s.Resident, s.Peak)
	}
	s.readHeap()
	if s.Heap == 0 || s.Collected == 0 {
		t.Errorf("heap %d, collected %d", s.Heap, s.Collected)
	}
	used := spent(os.Getpid(), func() {
		for before := processorTime(os.Getpid()); processorTime(os.Getpid()) == before; {
		}
	})
	if used <= 0 || used > processorTime(os.Getpid()) {
		t.Errorf("processor time %v", used)
	}
}
