package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/test/metrics"
	"graphview.dev/test/must"
)

// togetherFor is how long replicas that start at the same instant are watched.
const togetherFor = 2 * time.Minute

// together measures what three replicas do that start at the same instant, when the views
// are there already: the most within two minutes, beside the same replicas at its end.
func (b *bench) together(ctx context.Context) {
	g := &group{bench: b, shares: true}
	defer must.End(func() error { return g.end(ctx) })
	g.declare(ctx)
	shown := []schema.GroupResource{{Resource: "configmaps"}, {Resource: "pods"}} // by the views
	listed := must.Get(metrics.Lists(ctx, b.plane.Config(), shown...))
	began := time.Now()
	g.launch(ctx, 3)
	series := []string{"graphview_retained_objects", "graphview_watches", "process_resident_memory_bytes"}
	most, now := make([]float64, len(series)), make([]float64, len(series))
	for time.Since(began) < togetherFor {
		running(g.all)
		for i, name := range series {
			now[i] = 0
			for _, r := range g.all {
				// A replica that does not answer yet has nothing.
				if value, err := r.Metric(ctx, name); err == nil {
					now[i] += value
				}
			}
			most[i] = max(most[i], now[i])
		}
		pause(ctx, 200*time.Millisecond)
	}
	asked := must.Get(metrics.Lists(ctx, b.plane.Config(), shown...)) - listed
	b.table.Head(fmt.Sprintf("three replicas that start at the same instant, for %s; all together", togetherFor), "most", "at the end", "most ÷ at the end", "goal")
	row := func(i int, what, goal string, unit float64) {
		b.table.Row(what, fmt.Sprintf("%.0f", most[i]/unit), fmt.Sprintf("%.0f", now[i]/unit), fmt.Sprintf("%.2f", most[i]/now[i]), goal)
	}
	row(0, "objects that watches keep", "≤ 1.2", 1)
	row(1, "watches", "", 1)
	row(2, "resident, MB", "≤ 1.2", 1e6)
	b.table.Row("lists of objects of the views", fmt.Sprintf("%.0f", asked), "", "", "")
	b.table.Line("")
}
