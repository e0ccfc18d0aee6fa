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

// histogram counts by the upper bounds of its buckets: each counts what is in the smaller
// ones too.
type histogram map[float64]float64

// holdings are how often the graph of a manager was locked for writing, by how long.
func (n *neighbour) holdings(ctx context.Context) (histogram, error) {
	var text strings.Builder
	if err := fetch(ctx, http.MethodGet, n.m.MetricsURL(), &text); err != nil {
		return nil, err
	}
	return histogramOf(text.String(), writeLockMetric)
}

// histogramOf reads a histogram from a text in Prometheus' format.
func histogramOf(text, name string) (histogram, error) {
	h := histogram{}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name+`_bucket{le="`)
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

// since is what was counted since before.
func (h histogram) since(before histogram) histogram {
	now := histogram{}
	for le, n := range h {
		now[le] = n - before[le]
	}
	return now
}

// longest is the bound of the largest bucket in which something was counted, NaN if
// nothing was.
func (h histogram) longest() float64 {
	if h[math.Inf(1)] == 0 {
		return math.NaN()
	}
	for _, le := range slices.Sorted(maps.Keys(h)) {
		if h[le] == h[math.Inf(1)] {
			return le
		}
	}
	return math.Inf(1)
}
