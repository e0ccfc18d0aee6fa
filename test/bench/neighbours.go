package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"graphview.dev/test/metrics"
	"graphview.dev/test/must"
)

const (
	// neighbourRate is the number of changes of the small view in a second.
	neighbourRate = 200
	// neighbourRounds is the number of measures beside each load. One alone differs by a half from the next.
	neighbourRounds = 3
	// replaysAtOnce is the number of views of everything that are made at once.
	replaysAtOnce = 20
	// standing is the number of views that stay while others come and go, smallAtOnce at a time.
	standing    = 100
	smallAtOnce = 5
)

// beside is the measure of a neighbour beside a load.
type beside struct {
	late    []time.Duration // the delays of its events
	began   func(n int) time.Time
	holding float64 // the longest time that the graph's write lock was held, in seconds
	took    string  // how often the load ran
}

// small is the view of the neighbour: one application's objects.
var small = lens{name: "small", only: "namespace == '" + firstNamespace + "' && name.startsWith('" + firstApplication + "')", path: sequences.path}

const firstNamespace, firstApplication = "bench-000", "app-000"

// neighbours measures row 13: the delays of a small view beside other views.
func neighbours(ctx context.Context, b *bench) (lines []line) {
	n := b.neighbour(ctx)
	defer must.End(func() error { return n.end(ctx) })
	var alone []beside
	for _, d := range n.disturbances() {
		var before, during []beside
		for range neighbourRounds {
			before, during = append(before, n.beside(ctx, nil)), append(during, n.beside(ctx, d.run))
		}
		alone = append(alone, before...)
		lines = append(lines, besideLines("… while "+d.name+during[neighbourRounds-1].took, during, before)...)
	}
	what := fmt.Sprintf("event to subscriber of a view of one application, %d events/s, jsonPath, TLS, no other view", neighbourRate)
	return append(besideLines(what, alone, nil), lines...)
}

// neighbour is the small view, with one subscriber.
type neighbour struct {
	m        *running
	replay   *replay
	audience *audience
	events   int // of each measure
}

// neighbour starts the operator with the small view, behind a replay of its pods.
func (b *bench) neighbour(ctx context.Context) *neighbour {
	r := b.newReplay(ctx)
	return b.neighbourOf(ctx, b.managers.start(ctx, small, "--kubeconfig="+r.kubeconfig), r)
}

// neighbourOf creates the small view at an operator behind a replay, which then has the pods of the view alone, and
// warms it up.
func (b *bench) neighbourOf(ctx context.Context, m *running, r *replay) *neighbour {
	r.pods = slices.DeleteFunc(r.pods, func(p recorded) bool {
		return !strings.HasPrefix(p.key, firstNamespace+"/"+firstApplication+"-")
	})
	first, _ := m.followed(ctx)
	n := &neighbour{m: m, replay: r, audience: listen(1, `"j":["`), events: max(int(b.period.Seconds()/2*neighbourRate), 1)}
	n.audience.join(ctx, first)
	n.beside(ctx, nil)
	return n
}

func (n *neighbour) end(ctx context.Context) error {
	n.audience.leave()
	err := n.m.end(ctx)
	n.replay.close()
	return err
}

// beside measures the delays of events beside a load, nil for none.
func (n *neighbour) beside(ctx context.Context, load func(context.Context) (took string)) (s beside) {
	before := n.holdings(ctx)
	loading, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := must.Try(func() {
			if load != nil {
				s.took = load(loading)
			}
		})
		ended <- err
	}()
	number := *n.replay.changes + 1
	sent := make([]time.Time, n.events)
	n.audience.expect(number, n.events)
	err := must.Try(func() {
		n.replay.play(ctx, n.events, neighbourRate, func(i int) { sent[i-number] = time.Now() })
		n.audience.awaitAll(ctx)
	})
	stop()
	must.Do(errors.Join(err, <-ended))
	s.began = func(i int) time.Time { return sent[i-number] }
	s.late = n.audience.late(s.began)
	s.holding = n.holdings(ctx).longest(before)
	return s
}

// holdings counts how often the graph's write lock was held, by the upper bounds of a histogram's
// buckets: each counts those of the smaller buckets too.
type holdings map[float64]float64

func (n *neighbour) holdings(ctx context.Context) holdings {
	return must.Get(must.Get(metrics.Read(ctx, http.DefaultClient, n.m.MetricsURL())).Buckets("graphview_write_lock_seconds"))
}

// longest returns the bound of the bucket with the longest holding since before, NaN if
// there was none.
func (h holdings) longest(before holdings) float64 {
	all := h[math.Inf(1)] - before[math.Inf(1)]
	if all == 0 {
		return math.NaN()
	}
	for _, bound := range slices.Sorted(maps.Keys(h)) {
		if h[bound]-before[bound] == all {
			return bound
		}
	}
	return math.Inf(1)
}

// besideLines returns the lines of some measures, beside the same measures just before them, if there
// are any.
func besideLines(what string, measures, before []beside) []line {
	of := func(what, goal string, value func(*beside) float64, format func(float64) string, reached func(*line) bool) line {
		l := line{row: 13, what: what, goal: goal, ours: spreadOf(measures, value), format: format, reached: reached}
		if before != nil {
			l.peer, l.peerName = spreadOf(before, value), "just before"
		}
		return l
	}
	late := func(percent int) func(*beside) float64 {
		return func(s *beside) float64 { return percentile(s.late, percent) }
	}
	p99 := of("… p99", "", late(99), milliseconds, nil)
	if before != nil {
		p99.goal, p99.reached = "as without: ≤ 2 ×", partOfPeer(2)
	}
	return []line{
		of(what+": p50", "", late(50), milliseconds, nil),
		p99,
		of("… longest holding of the write lock", "≤ 5 ms", func(s *beside) float64 { return s.holding }, atMost, within(0.005)),
	}
}

// atMost formats the upper bound of a histogram's bucket.
func atMost(v float64) string {
	if math.IsInf(v, 1) {
		return "longer than any bucket"
	}
	return "≤ " + milliseconds(v)
}
