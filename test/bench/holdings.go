package main

import (
	"context"
	"maps"
	"math"
	"net/http"
	"slices"

	"graphview.dev/test/metrics"
	"graphview.dev/test/must"
)

// writeLockMetric is the histogram of how long the graph was locked for writing.
const writeLockMetric = "graphview_write_lock_seconds"

// holdings counts how often the write lock was held, by the upper bounds of the
// histogram's buckets: each counts those of the smaller ones too.
type holdings map[float64]float64

func (n *neighbour) holdings(ctx context.Context) holdings {
	return must.Get(must.Get(metrics.Read(ctx, http.DefaultClient, n.m.MetricsURL())).Buckets(writeLockMetric))
}

// longest is the bound of the bucket that has the longest holding since before, NaN if
// there was none.
func (h holdings) longest(before holdings) float64 {
	all := h[math.Inf(1)] - before[math.Inf(1)]
	if all == 0 {
		return math.NaN()
	}
	for _, le := range slices.Sorted(maps.Keys(h)) {
		if h[le]-before[le] == all {
			return le
		}
	}
	return math.Inf(1)
}
