package figures

import (
	"math"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[99-i] = time.Duration(i) * time.Second
	}
	for percent, want := range map[int]float64{0: 0, 50: 50, 99: 99, 100: 99} {
		if got := Percentile(hundred, percent); got != want {
			t.Errorf("p%d: %v, want %v", percent, got, want)
		}
	}
	if got := Percentile(nil, 50); !math.IsNaN(got) {
		t.Errorf("of nothing: %v, want NaN", got)
	}
}

func TestMedian(t *testing.T) {
	same := func(v int) int { return v }
	for want, all := range map[int][]int{1: {1}, 2: {3, 1, 2}, 3: {4, 1, 3, 2}} {
		if got := Median(all, same); got != want {
			t.Errorf("%v: %d, want %d", all, got, want)
		}
	}
}
