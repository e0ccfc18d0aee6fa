package main

import (
	"math"
	"testing"
)

func TestHistogram(t *testing.T) {
	const text = `# TYPE graphview_write_lock_seconds histogram
graphview_write_lock_seconds_bucket{le="0.0001"} 7
graphview_write_lock_seconds_bucket{le="0.005"} 9
graphview_write_lock_seconds_bucket{le="+Inf"} 10
graphview_write_lock_seconds_sum 1.2
graphview_write_lock_seconds_count 10
`
	now, err := histogramOf(text, writeLockMetric)
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		before      histogram
		wantLongest float64
		wantMedian  float64
	}{
		"short ones since":           {histogram{0.0001: 3, 0.005: 5, inf: 6}, 0.0001, 0.00005},
		"one of the second bucket":   {histogram{0.0001: 7, 0.005: 8, inf: 9}, 0.005, 0.0001 + 0.0049/2},
		"one beyond all buckets":     {histogram{0.0001: 7, 0.005: 9, inf: 9}, inf, 0.005},
		"none since":                 {now, math.NaN(), math.NaN()},
		"all that there ever were":   {nil, inf, 0.0001 * 5 / 7},
		"short ones, a long earlier": {histogram{0.0001: 5, 0.005: 7, inf: 8}, 0.0001, 0.00005},
	} {
		same := func(a, b float64) bool {
			return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9
		}
		since := now.since(c.before)
		if got := since.longest(); !same(got, c.wantLongest) {
			t.Errorf("%s: the longest is %v, want %v", name, got, c.wantLongest)
		}
		if got := since.percentile(50); !same(got, c.wantMedian) {
			t.Errorf("%s: the median is %v, want %v", name, got, c.wantMedian)
		}
	}
	if _, err := histogramOf(text, sendingMetric); err == nil {
		t.Error("a text without the histogram is no error")
	}
}
