package delivery

import (
	"slices"
	"sync"
	"time"

	"graphview.dev/graphview/graph"
)

const (
	// partedFor is how long a narrowed graph is kept for a subscriber who comes back.
	partedFor = time.Minute
	// maxParted bounds the vertices and arcs of those that are kept, and largeParted of
	// one of them.
	maxParted   = 100_000
	largeParted = maxParted / 10
)

// parted are the narrowed graphs of subscribers who have left, for as long as they may
// come back: a part that is made anew does not know what went before. The zero value is
// ready.
type parted struct {
	mu   sync.Mutex
	all  []*partedGraph // oldest first
	size int
}

type partedGraph struct {
	key   string
	part  *graph.Narrowed
	size  int
	timer *time.Timer
}

// keep keeps one, instead of the oldest where there is too much.
func (p *parted) keep(key string, part *graph.Narrowed) {
	g := &partedGraph{key: key, part: part, size: part.Size()}
	if g.size > largeParted {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, g)
	p.size += g.size
	for p.size > maxParted {
		p.dropLocked(0)
	}
	g.timer = time.AfterFunc(partedFor, func() { p.drop(g) })
}

// take returns the one that was kept last, and forgets it; nil if there is none.
func (p *parted) take(key string) *graph.Narrowed {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, g := range slices.Backward(p.all) {
		if g.key == key {
			p.dropLocked(i)
			return g.part
		}
	}
	return nil
}

func (p *parted) drop(g *partedGraph) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.all, g); i >= 0 {
		p.dropLocked(i)
	}
}

func (p *parted) dropLocked(i int) {
	g := p.all[i]
	g.timer.Stop()
	p.size -= g.size
	p.all = slices.Delete(p.all, i, i+1)
}
