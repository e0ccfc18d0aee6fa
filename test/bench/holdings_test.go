package main

import (
	"math"
	"testing"
)

func TestHoldings(t *testing.T) {
	const text = `# TYPE graphview_write_lock_seconds histogram
graphview_write_lock_seconds_bucket{le="0.0001"} 7
graphview_write_lock_seconds_bucket{le="0.005"} 9
graphview_write_lock_seconds_bucket{le="+Inf"} 10
graphview_write_lock_seconds_sum 1.2
graphview_write_lock_seconds_count 10
`
	now, err := holdingsOf(text)
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		before holdings
		want   float64
	}{
		"short ones since":           {holdings{0.0001: 3, 0.005: 5, inf: 6}, 0.0001},
		"one of the second bucket":   {holdings{0.0001: 7, 0.005: 8, inf: 9}, 0.005},
		"one beyond all buckets":     {holdings{0.0001: 7, 0.005: 9, inf: 9}, inf},
		"none since":                 {now, math.NaN()},
		"all that there ever were":   {nil, inf},
		"short ones, a long earlier": {holdings{0.0001: 5, 0.005: 7, inf: 8}, 0.0001},
	} {
		if got := now.longest(c.before); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: the longest is %v, want %v", name, got, c.want)
		}
	}
	if _, err := holdingsOf("other_metric 1\n"); err == nil {
		t.Error("a text without the histogram is no error")
	}
}
