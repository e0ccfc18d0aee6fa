package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"graphview.dev/test/bench/figures"
	"graphview.dev/test/must"
)

const (
	// neighbourRate is how many of a small view's objects change in a second.
	neighbourRate = 200
	// replaysAtOnce are the views of everything that are made at once.
	replaysAtOnce = 20
	// standing are the views that there are while others come and go, smallAtOnce at a time.
	standing    = 100
	smallAtOnce = 5
)

// beside is what a neighbour's events took while something went on beside it.
type beside struct {
	late    []time.Duration // smallest first
	holding float64         // the longest of the graph's write lock
	took    string          // how much of what went on there was
}

// small is the neighbour: one application's objects.
var small = lens{name: "small", only: "namespace == '" + firstNamespace + "' && name.startsWith('" + firstApplication + "')", path: sequences.path}

const firstNamespace, firstApplication = "bench-000", "app-000"

// neighbours measures row 13: what a subscriber of a small view notices of others.
func neighbours(ctx context.Context, b *bench) (lines []line) {
	n := b.neighbour(ctx)
	defer must.End(func() error { return n.end(ctx) })
	var alone []beside
	for _, d := range n.disturbances() {
		before := n.beside(ctx, nil)
		during := n.beside(ctx, d.run)
		alone = append(alone, before)
		lines = append(lines, besideLines(13, "… while "+d.name+during.took, []beside{during}, []beside{before})...)
	}
	what := fmt.Sprintf("event to subscriber of a view of one application, %d events/s, jsonPath, TLS, no other view", neighbourRate)
	return append(besideLines(13, what, alone, nil), lines...)
}

// neighbour is the small view, with one subscriber.
type neighbour struct {
	m        *running
	replay   *replay
	audience *audience
	events   int // of each measure
}

// neighbour starts the operator with the small view, behind a replay of its pods, and
// warms it up.
func (b *bench) neighbour(ctx context.Context) (n *neighbour) {
	n = &neighbour{events: max(int(b.period.Seconds()/2*neighbourRate), 1)}
	n.replay = b.newReplay(ctx)
	n.replay.pods = slices.DeleteFunc(n.replay.pods, func(p recorded) bool {
		return !strings.HasPrefix(p.key, firstNamespace+"/"+firstApplication+"-")
	})
	n.m = b.managers.start(ctx, small, "--kubeconfig="+n.replay.kubeconfig)
	first, _ := n.m.followed(ctx)
	n.audience = listen(ctx, []*websocket.Conn{first}, 1, `"j":["`)
	n.beside(ctx, nil)
	return n
}

// end ends what neighbour has started of it.
func (n *neighbour) end(ctx context.Context) (err error) {
	if n.audience != nil {
		n.audience.leave()
	}
	if n.m != nil {
		err = n.m.end(ctx)
	}
	if n.replay != nil {
		n.replay.close()
	}
	return err
}

// beside measures how late events come while something goes on, nil for nothing.
func (n *neighbour) beside(ctx context.Context, goesOn func(context.Context) (took string)) (s beside) {
	before := n.holdings(ctx)
	going, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := must.Try(func() {
			if goesOn != nil {
				s.took = goesOn(going)
			}
		})
		if err != nil {
			stop()
		}
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
	after := n.holdings(ctx)
	s.late = n.audience.late(func(i int) time.Time { return sent[i-number] })
	s.holding = after.longest(before)
	return s
}

// besideLines are those of several measures, beside the same measures just before them, if there
// are any.
func besideLines(row int, what string, measures, before []beside) []line {
	of := func(what, goal string, value func(*beside) float64, format func(float64) string, reached func(*line) bool) line {
		l := line{row: row, what: what, goal: goal, ours: spreadOf(measures, value), format: format, reached: reached}
		if before != nil {
			l.peer, l.peerName = spreadOf(before, value), "just before"
		}
		return l
	}
	late := func(percent int) func(*beside) float64 {
		return func(s *beside) float64 { return figures.Percentile(s.late, percent) }
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

// atMost formats a bucket of a histogram: what is in it takes no longer.
func atMost(v float64) string {
	if math.IsInf(v, 1) {
		return "longer than any bucket"
	}
	return "≤ " + milliseconds(v)
}
