// Package figures takes medians and percentiles of what was measured. It knows neither what that
// was nor where it is written.
package figures

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Median is the middle value; of an even number, the higher one of the two. There is at least one.
func Median[T any, V cmp.Ordered](all []T, of func(T) V) V {
	values := make([]V, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Percentile sorts durations and returns one, in seconds. Of none it is NaN.
func Percentile(all []time.Duration, percent int) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[min(len(all)*percent/100, len(all)-1)].Seconds()
}
