package graph

// One event may change very many objects and arcs, and all readers wait for the writer. So each Update
// does one slice of the work that it and earlier Updates left, as a part of its revision.

// sliceChanges is the number of objects that one slice may change, as many as a batch of events
// has. sliceVisits is the number of visits for each of them.
const (
	sliceVisits  = 32
	sliceChanges = 512
)

// rest is the part of a change that is left for later.
type rest interface {
	// step does a few visits of it. It reports whether that changed an object, and whether nothing is
	// left.
	step(g *Graph) (changed, done bool)
}

// HasOpenUpdate reports whether the last Update left slices of a change. While it is true, an Update
// may change nothing else. Only the writer calls it.
func (g *Graph) HasOpenUpdate() bool { return len(g.openUpdates) > 0 }

// HasCleanup reports whether further Updates, also empty ones, have slices to do or late lenses to commit.
// Only the writer calls it.
func (g *Graph) HasCleanup() bool { return len(g.cleanups)+len(g.left) > 0 || g.HasOpenUpdate() }

// work does one slice, at least one step, of the open updates or else of a cleanup. A slice of a
// cleanup is a quarter as large, since each lens that showed a changed object visits its arcs. Cleanups
// take turns.
func (g *Graph) work() {
	defer g.rotate()
	before, changes, quarter := g.Visits(), 0, max(1, g.sliceChanges/4)
	for first := true; ; first = false {
		list, full := &g.openUpdates, g.Visits() >= sliceVisits*g.sliceChanges
		if len(*list) == 0 {
			list, full = &g.cleanups, changes >= quarter || g.Visits()-before >= sliceVisits*quarter
		}
		if len(*list) == 0 || full && !first {
			return
		}
		changed, done := (*list)[0].step(g)
		if changed {
			changes++
		}
		if done {
			(*list)[0] = nil // the list may be long, so it is not copied
			*list = (*list)[1:]
		}
	}
}

// rotate lets the next slice begin with the next cleanup.
func (g *Graph) rotate() {
	if len(g.cleanups) > 1 {
		first := g.cleanups[0]
		g.cleanups[0] = nil
		g.cleanups = append(g.cleanups[1:], first)
	}
}

// atOnce reports whether the open revision may visit that many more arcs.
func (g *Graph) atOnce(arcs int) bool {
	return arcs == 0 || g.Visits()+arcs*(1+len(g.lenses)) <= sliceVisits*g.sliceChanges
}
