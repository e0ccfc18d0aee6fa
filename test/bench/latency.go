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
	conns := m.dialer.dialMany(ctx, latencySubscribers-1, whole, rev)
	a := listen(ctx, append(conns, first), 1, sequenceMark)
	defer a.leave()
	w := b.newWriter(ctx)
	plain := watchPods(ctx, b.plane.Config())
	defer plain.end()
	w.write(ctx, latencyRate, latencyRate, ignoreBegin) // to warm up
	n := int(b.period.Seconds() * latencyRate)
	var mu sync.Mutex
	began := make(map[int]time.Time, n)
	a.expect(b.changes+1, n)
	number := w.write(ctx, n, latencyRate, func(n int) {
		mu.Lock()
		defer mu.Unlock()
		began[n] = time.Now()
	})
	a.awaitAll(ctx)
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
	return []line{line4(50, "≤ 2 ms", 0.002), line4(99, "≤ 20 ms", 0.020)}
}
