package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"

	"graphview.dev/graphview"
	"graphview.dev/test/bench/heap"
	"graphview.dev/test/must"
)

// views is the number of views of row 11.
const views = 100

// manyViews measures row 11: the cost of further views over the same resources.
func manyViews(ctx context.Context, b *bench) []line {
	same, differ := b.child(ctx, task{Name: "views"}), b.child(ctx, task{Name: "differ"})
	perVertex := func(what string, s *sample) line {
		each := float64(s.All.Bytes-s.One.Bytes) / (views - 1) / float64(s.One.Vertices)
		return line{row: 11, what: what, goal: "≤ 40 B", ours: single(each), format: bytesOf, reached: within(40)}
	}
	return []line{
		{
			row: 11, what: fmt.Sprintf("watches of %d views over the same %d resources", views, len(targets)),
			goal: "no more than one view has", ours: single(float64(same.All.Watches)), floor: single(float64(same.One.Watches)), floorName: "one view",
			format: count, reached: timesFloor(1),
		},
		perVertex(fmt.Sprintf("… memory per vertex and further view, %d vertices", same.One.Vertices), &same),
		perVertex("… where each leaves other objects out, by an expression", &differ),
	}
}

// runViews weighs an engine with one view, and with all views.
func runViews(ctx context.Context, c *child, differ bool) {
	// Without a memory limit, one owner's hundred views of 100,000 objects do not fit.
	engine := must.Get(graphview.NewEngine(graphview.Options{Config: c.config, Logger: logr.Discard(), MaxVertices: 1_000_000, HeldBytes: 4 << 30}))
	defer must.End(must.Background(ctx, engine.Run))
	for i := range views {
		l := lens{name: fmt.Sprintf("view-%03d", i)}
		if differ {
			l.only = fmt.Sprintf("name != 'app-%03d'", i)
		}
		must.Do(apply(ctx, engine, l).WaitSynced(ctx))
		if i == 0 {
			c.One = weigh(engine)
		}
	}
	c.All = weigh(engine)
}

func weigh(engine *graphview.Engine) weight {
	return weight{Bytes: heap.Held(), Watches: engine.Watches(), Vertices: engine.Size().Nodes}
}
