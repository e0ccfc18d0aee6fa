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

const (
	// writeLockMetric is the histogram of how long the graph was locked for writing.
	writeLockMetric = "graphview_write_lock_seconds"
	// sendingMetric is the histogram of what passes in the operator between an event and
	// the end of sending what it changed.
	sendingMetric = "graphview_event_to_send_seconds"
)

// histogram counts by the upper bounds of its buckets: each counts what is in the smaller
// ones too.
type histogram map[float64]float64

// histograms are those that row 13 looks at.
type histograms struct{ writeLock, sending histogram }

func (n *neighbour) histograms(ctx context.Context) (h histograms, err error) {
	var text strings.Builder
	if err := fetch(ctx, http.MethodGet, n.m.MetricsURL(), &text); err != nil {
		return h, err
	}
	if h.writeLock, err = histogramOf(text.String(), writeLockMetric); err != nil {
		return h, err
	}
	h.sending, err = histogramOf(text.String(), sendingMetric)
	return h, err
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
	for _, le := range h.bounds() {
		if h[le] == h[math.Inf(1)] {
			return le
		}
	}
	return math.Inf(1)
}

// percentile is about what so many percent of what was counted are within, as Prometheus
// tells it: a bucket's values are taken to be evenly spread. Beyond the last bound it is
// that bound, and NaN if nothing was counted.
func (h histogram) percentile(percent float64) float64 {
	wanted := h[math.Inf(1)] * percent / 100
	if wanted == 0 {
		return math.NaN()
	}
	below, counted := 0.0, 0.0
	for _, le := range h.bounds() {
		switch n := h[le]; {
		case math.IsInf(le, 1):
			return below
		case n >= wanted:
			return below + (le-below)*(wanted-counted)/(n-counted)
		default:
			below, counted = le, n
		}
	}
	return below
}

// bounds are those of the buckets, in order.
func (h histogram) bounds() []float64 { return slices.Sorted(maps.Keys(h)) }
