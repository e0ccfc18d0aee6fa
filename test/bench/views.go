package main

import (
	"context"
	"fmt"
)

// views are how many there are in row 11.
const views = 100

// manyViews measures row 11: what further views over the same resources cost.
func manyViews(ctx context.Context, b *bench) (lines []line) {
	for _, differ := range []bool{false, true} {
		first, all := b.weighViews(ctx, differ)
		perVertex := (all.Bytes - first.Bytes) / (views - 1) / float64(first.Vertices)
		l := line{
			row: 11, what: fmt.Sprintf("memory per vertex and further view of %d views over the same resources, %d vertices", views, first.Vertices),
			goal: "≤ 40 B", ours: single(perVertex), format: bytesOf, reached: within(40),
		}
		if differ {
			l.what = "… where each leaves other objects out, by an expression"
			lines = append(lines, l)
			continue
		}
		watches := line{
			row: 11, what: fmt.Sprintf("watches of %d such views over %d resources", views, len(targets)),
			goal: "no more than one view has", ours: single(float64(all.Watches)), floor: single(float64(first.Watches)), floorName: "one view",
			format: count, reached: timesFloor(1),
		}
		lines = append(lines, watches, l)
	}
	return lines
}

// weighViews weighs a process with one view and with all.
func (b *bench) weighViews(ctx context.Context, differ bool) (first, all weight) {
	s := b.startServer(ctx)
	defer s.end(ctx)
	s.addViews(ctx, 1, lens{}, differ)
	first = s.weight(ctx)
	s.addViews(ctx, views-1, lens{}, differ)
	all = s.weight(ctx)
	return first, all
}
