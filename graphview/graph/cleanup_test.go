package graph

import (
	"fmt"
	"testing"
)

// TestCleanupsRunInSlices: the objects of a large view or a watch that ends are removed in
// several revisions with few changes each.
func TestCleanupsRunInSlices(t *testing.T) {
	const pods = 600
	for name, tt := range map[string]struct {
		change    func(c *crowd, l *Lens)
		left      func(c *crowd, l *Lens) int
		wantLeft  int
		wantOther int // vertices of another lens
	}{
		"a view loses its watch": {
			func(c *crowd, l *Lens) { l.Unwatch(c.pods) },
			func(_ *crowd, l *Lens) int { return l.Vertices() }, 0, pods,
		},
		"a watch ends": {
			func(c *crowd, _ *Lens) { c.g.RemoveSource(c.pods) },
			func(c *crowd, _ *Lens) int { return c.count(func(n *node) bool { return n.alive() }) }, 1, 0, // the Namespace
		},
		"a view ends": {
			func(_ *crowd, l *Lens) { l.Close() },
			func(c *crowd, _ *Lens) int { return c.count(func(n *node) bool { return n.pins == 2 }) }, 0, pods,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(0, pods)
			var large, other *Lens
			c.change(func() {
				large, other = c.newLens(), c.newLens()
				for i := range pods {
					id := c.g.Find(c.pods, "shop", fmt.Sprint("p", i))
					large.Select(id, Selection{Member: true})
					other.Select(id, Selection{Member: true})
				}
			})
			c.g.sliceChanges = 32
			before := tt.left(c, large)
			revisions := 0
			for fn := func() { tt.change(c, large) }; revisions == 0 || c.g.HasCleanup(); fn = func() {} {
				c.g.Update(fn)
				revisions++
				now := tt.left(c, large)
				if gone := before - now; gone > 4*c.g.sliceChanges {
					t.Errorf("revision %d takes %d objects away, want at most %d", revisions, gone, 4*c.g.sliceChanges)
				}
				before = now
			}
			if before != tt.wantLeft || other.Vertices() != tt.wantOther {
				t.Errorf("%d objects are left, and another view has %d vertices; want %d and %d", before, other.Vertices(), tt.wantLeft, tt.wantOther)
			}
		})
	}
}

// count is how many nodes are as a function says.
func (c *crowd) count(is func(*node) bool) (nodes int) {
	for id := nodeID(1); id <= c.g.nodes.next; id++ {
		if is(c.g.nodes.at(id)) {
			nodes++
		}
	}
	return nodes
}
