package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"graphview.dev/test/must"
)

// The number of subscribers of row 4, and its writes a second.
const (
	latencySubscribers = 100
	latencyRate        = 200
)

// latency measures row 4: the delay of a write at the subscribers in this process, beyond its delay at
// a plain watch in this process.
func latency(ctx context.Context, b *bench) (lines []line) {
	m := b.managers.start(ctx, whole)
	defer must.End(func() error { return m.end(ctx) })
	first, rev := m.followed(ctx)
	a := listen(1, sequenceMark)
	defer a.leave()
	a.join(ctx, first)
	a.dial(ctx, m.users(ctx, latencySubscribers-1), whole, latencySubscribers-1, rev)
	w := b.newWriter(ctx)
	plain := watchPods(ctx, b.plane.Config())
	defer plain.end()
	w.write(ctx, latencyRate, latencyRate, ignoreBegin) // to warm up
	n := int(b.period.Seconds() * latencyRate)
	var mu sync.Mutex
	began := make(map[int]time.Time, n)
	a.expect(*b.changes+1, n)
	encoded := m.metric(ctx, encodingsMetric)
	var number int
	var level time.Duration
	b.besideBusy(func() {
		number = w.write(ctx, n, latencyRate, func(n int) {
			mu.Lock()
			defer mu.Unlock()
			began[n] = time.Now()
		})
		level = a.awaitAll(ctx)
	})
	encoded = (m.metric(ctx, encodingsMetric) - encoded) / float64(n)
	after := make([]time.Duration, n)
	for i := range n {
		plain.await(ctx, number+i)
		after[i] = plain.when(number + i).Sub(began[number+i])
	}
	beyond := a.late(plain.when)
	line4 := func(percent int, goal string, limit float64) line {
		return line{
			row: 4, what: fmt.Sprintf("subscriber beyond a plain watch in the same process, %d writes/s, %d subscribers, whole objects, TLS: p%d of %d",
				latencyRate, latencySubscribers, percent, len(beyond)),
			goal: goal, ours: single(percentile(beyond, percent)), floor: single(percentile(after, percent)), floorName: "plain watch of metadata after the write began",
			format: milliseconds, reached: within(limit),
		}
	}
	even := b.evenness(4, a, func(n int) time.Time { return began[n] }, encoded, level)
	if b.busy > 0 {
		even = append(even, b.recovered(ctx, 4, a, latencyRate, func(n int, began func(n int)) {
			w.write(ctx, n, latencyRate, began)
		}))
	}
	return append(even, line4(50, "≤ 2 ms", 0.002), line4(99, "≤ 20 ms", 0.020))
}

// evenness has the lines of a row that say how subscribers stay together under load.
func (b *bench) evenness(row int, a *audience, began func(n int) time.Time, encodings float64, level time.Duration) []line {
	load := fmt.Sprintf("with %d other programs on all processors: ", b.busy)
	behind, boundaries := a.behind()
	return []line{
		{row: row, what: load + "encodings per event", goal: "≤ 2", ours: single(encodings), format: plain, reached: within(2)},
		{row: row, what: "… the last change, until every subscriber has it", goal: "≤ 2 s", ours: single(level.Seconds()), format: milliseconds, reached: within(2)},
		{row: row, what: "… median delay of the last subscriber ÷ of the first", ours: single(a.uneven(began)), format: plain},
		{row: row, what: fmt.Sprintf("… boundaries behind the first subscriber when the next comes, of %d boundaries: p99", boundaries), goal: "≤ 1", ours: single(percent(behind, 99)), format: count, reached: within(1)},
		{row: row, what: "… most", ours: single(percent(behind, 100)), format: count},
	}
}

// recovered returns the delays of a second of changes that begins two seconds after the other programs ended.
func (b *bench) recovered(ctx context.Context, row int, a *audience, rate int, play func(n int, began func(n int))) line {
	play(2*rate, ignoreBegin)
	a.expect(*b.changes+1, rate)
	var mu sync.Mutex
	began := make(map[int]time.Time, rate)
	play(rate, func(n int) {
		mu.Lock()
		defer mu.Unlock()
		began[n] = time.Now()
	})
	a.awaitAll(ctx)
	late := a.late(func(n int) time.Time { return began[n] })
	return line{row: row, what: "… a change at a subscriber, p99, two seconds after the other programs ended", ours: single(percentile(late, 99)), format: milliseconds}
}
