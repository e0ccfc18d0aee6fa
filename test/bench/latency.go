package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// latencySubscribers and latencyRate are what row 4 speaks of.
	latencySubscribers = 100
	latencyRate        = 200
)

// latency measures row 4: how much later than a plain watch in this process the
// subscribers in this process are told of a write.
func latency(ctx context.Context, b *bench) (lines []line, err error) {
	m, err := b.managers.start(ctx, whole)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.end(ctx)) }()
	first, rev, err := m.followed(ctx)
	if err != nil {
		return nil, err
	}
	conns, err := m.dialer.dialMany(ctx, latencySubscribers-1, whole, rev)
	if err != nil {
		return nil, err
	}
	a := listen(ctx, append(conns, first), 1, sequenceMark)
	defer a.leave()
	w, err := b.newWriter(ctx, "", mostRecorded)
	if err != nil {
		return nil, err
	}
	defer w.close()
	plain, err := watchPods(ctx, b.plane.Config())
	if err != nil {
		return nil, err
	}
	defer plain.end()
	if _, err := w.write(ctx, latencyRate, latencyRate, ignoreBegin); err != nil { // for warming up
		return nil, err
	}
	n := int(b.period.Seconds() * latencyRate)
	var mu sync.Mutex
	began := make(map[int]time.Time, n)
	a.expect(b.changes+1, n)
	number, err := w.write(ctx, n, latencyRate, func(n int) {
		mu.Lock()
		began[n] = time.Now()
		mu.Unlock()
	})
	if err != nil {
		return nil, err
	}
	if err := a.awaitAll(ctx); err != nil {
		return nil, err
	}
	for i := range n {
		if err := plain.reached(ctx, number+i); err != nil {
			return nil, err
		}
	}
	beyond := a.late(plain.when)
	after := plain.late(began)
	line4 := func(percent int, goal string, limit float64) line {
		return line{
			row: 4, what: fmt.Sprintf("subscriber beyond a plain watch in the same process, %d writes/s, %d subscribers, whole objects, TLS: p%d of %d",
				latencyRate, latencySubscribers, percent, len(beyond)),
			goal: goal, ours: single(percentile(beyond, percent)), floor: single(percentile(after, percent)), floorName: "plain watch after the write began",
			peer: nothing, format: milliseconds, reached: within(limit),
		}
	}
	return []line{line4(50, "≤ 2 ms", 0.002), line4(99, "≤ 20 ms", 0.020)}, nil
}
