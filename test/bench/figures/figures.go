// Package figures computes percentiles of measured durations.
package figures

import (
	"math"
	"slices"
	"time"
)

// Percentile sorts durations and returns the one at the percent, in seconds, NaN without durations.
func Percentile(all []time.Duration, percent int) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[min(len(all)*percent/100, len(all)-1)].Seconds()
}
