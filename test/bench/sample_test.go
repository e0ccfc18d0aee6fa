package main

import (
	"math"
	"testing"
)

func TestSpreadOf(t *testing.T) {
	seconds := func(s *sample) float64 { return s.Seconds }
	for name, c := range map[string]struct {
		samples []sample
		want    spread
	}{
		"one":  {[]sample{{Seconds: 2}}, spread{2, 2, 2}},
		"odd":  {[]sample{{Seconds: 9}, {Seconds: 1}, {Seconds: 2}}, spread{1, 2, 9}},
		"even": {[]sample{{Seconds: 4}, {Seconds: 1}, {Seconds: 2}, {Seconds: 9}}, spread{1, 3, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spreadOf(c.samples, seconds); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := spreadOf(nil, seconds); !math.IsNaN(got.median) {
		t.Errorf("of nothing: %+v, want NaN", got)
	}
}

func TestReadMemory(t *testing.T) {
	var s sample
	if err := s.readMemory("self"); err != nil {
		t.Fatal(err)
	}
	if s.Resident == 0 || s.Peak < s.Resident {
		t.Errorf("resident %d, at most %d", s.Resident, s.Peak)
	}
	if err := s.readHeap(); err != nil || s.Heap == 0 || s.Collected == 0 {
		t.Errorf("heap %d, collected %d, error %v", s.Heap, s.Collected, err)
	}
	if used, err := processorTime("self"); err != nil || used < 0 {
		t.Errorf("processor time %v, error %v", used, err)
	}
}
