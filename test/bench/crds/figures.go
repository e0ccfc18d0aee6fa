package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// figures are of one engine.
type figures struct {
	synced, read time.Duration
	heap         int64
}

// median takes the median of each figure.
func median(all []figures) figures {
	return figures{synced: middle(all, func(f figures) time.Duration { return f.synced }), read: middle(all, func(f figures) time.Duration { return f.read }),
		heap: middle(all, func(f figures) int64 { return f.heap })}
}

func middle[T cmp.Ordered](all []figures, of func(figures) T) T {
	values := make([]T, len(all))
	for i, f := range all {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// row is a row of the table; without are the figures of an engine without schemas.
func (f figures) row(kinds int, schemas string, without *figures) string {
	read, each := "-", "-"
	if without != nil {
		read = fmt.Sprintf("%.1f s", f.read.Seconds())
		if kinds > 0 {
			each = fmt.Sprintf("%.1f", float64(f.heap-without.heap)/float64(kinds)/1e3)
		}
	}
	return fmt.Sprintf("| %d | %s | %.1f s | %s | %.1f | %s |\n", kinds, schemas, f.synced.Seconds(), read, float64(f.heap)/1e6, each)
}
