package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// writeLockMetric is the histogram of how long the graph was locked for writing.
const writeLockMetric = "graphview_write_lock_seconds"

// holdings counts how often the write lock was held, by the upper bounds of the
// histogram's buckets: each counts those of the smaller ones too.
type holdings map[float64]float64

func (n *neighbour) holdings(ctx context.Context) (holdings, error) {
	var text strings.Builder
	if err := fetch(ctx, http.MethodGet, n.m.MetricsURL(), &text); err != nil {
		return nil, err
	}
	return holdingsOf(text.String())
}

// holdingsOf reads the histogram from a text in Prometheus' format.
func holdingsOf(text string) (holdings, error) {
	h := holdings{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, writeLockMetric+`_bucket{le="`)
		bound, count, cut := strings.Cut(rest, `"} `)
		if !ok || !cut {
			continue
		}
		le, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		if h[le], err = strconv.ParseFloat(strings.TrimSpace(count), 64); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	if len(h) == 0 {
		return nil, errNoMetric
	}
	return h, nil
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
