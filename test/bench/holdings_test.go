package main

import (
	"math"
	"testing"
)

func TestHoldings(t *testing.T) {
	inf := math.Inf(1)
	now := holdings{0.0001: 7, 0.005: 9, inf: 10}
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
}
