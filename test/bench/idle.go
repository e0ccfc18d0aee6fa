package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/test/metrics"
	"graphview.dev/test/must"
)

// statusSettles is longer than the operator waits between two writes of a status.
const statusSettles = 10 * time.Second

// idle measures row 12: what the operator does when nothing happens.
func idle(ctx context.Context, b *bench) (lines []line) {
	period := 3 * b.period
	var resources []schema.GroupResource
	for _, t := range targets {
		resources = append(resources, t.GroupResource())
	}
	m := b.managers.start(ctx, whole)
	defer must.End(func() error { return m.end(ctx) })
	conn, _ := m.followed(ctx)
	a := listen(ctx, []*websocket.Conn{conn}, 1, sequenceMark)
	defer a.leave()
	// Status is written once more, and garbage is given back.
	must.Do(wait(ctx, max(b.settle, statusSettles)))
	listed := must.Get(metrics.Lists(ctx, b.plane.Config(), resources...))
	used := spent(m.PID(), func() { must.Do(wait(ctx, period)) })
	again := must.Get(metrics.Lists(ctx, b.plane.Config(), resources...))
	peer := b.child(ctx, task{Name: "informers", Settle: b.settle, IdleFor: period})
	percent := func(v float64) string { return fmt.Sprintf("%.2f %% of a core", v) }
	return []line{
		{
			row: 12, what: fmt.Sprintf("idle for %s with one subscriber, bin/manager", period), goal: "≤ 0.5 % of a core",
			ours: single(100 * used / period.Seconds()),
			peer: single(100 * peer.IdleProcessor / period.Seconds()), peerName: peers[0].name, format: percent, reached: within(0.5),
		},
		{
			row: 12, what: "lists of the view's resources that the API server answered meanwhile", goal: "none",
			ours: single(again - listed), format: count, reached: within(0),
		},
	}
}
