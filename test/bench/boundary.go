package main

import (
	"math"
	"slices"
	"sort"
	"time"
)

// boundary is a revision that came to a listener, which then has the changes up to number n. If writers change objects at the
// same time, two revisions may have the same newest change, and count as one.
type boundary struct {
	n, listener int
	at          time.Time
}

// behind returns by how many boundaries listeners were behind the first of them, each time just before the next boundary came to
// the listener, sorted, and the number of all boundaries.
func (a *audience) behind() (behind []int, boundaries int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]int, len(a.boundaries))
	for i, b := range a.boundaries {
		all[i] = b.n
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(a.boundaries, func(a, b boundary) int { return a.at.Compare(b.at) })
	first, has := 0, map[int]int{} // the number of the first listener's boundary, and of each
	for _, b := range a.boundaries {
		number := sort.SearchInts(all, b.n) + 1
		behind = append(behind, max(first-has[b.listener], 0))
		first, has[b.listener] = max(first, number), number
	}
	slices.Sort(behind)
	return behind, len(all)
}

// percent returns the number at the percent of sorted numbers, NaN without numbers.
func percent(sorted []int, percent int) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return float64(sorted[min(len(sorted)*percent/100, len(sorted)-1)])
}
