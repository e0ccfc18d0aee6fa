package delivery

import "graphview.dev/graphview/graph"

// maxCommitWaits is the number of successive commits outside the lock for which Poll returns nothing,
// before it blocks until the end of one. A Poll that blocks delays the other graphs of its caller. A Poll that returns
// has to run between two commits, and under constant load hundreds of commits may pass before that.
const maxCommitWaits = 4

// commitWaits counts the commits outside the lock that a subscriber met since it last read the graph.
type commitWaits struct {
	commits int
	last    <-chan struct{}
}

// next returns a channel that is closed when the commit ends for which Poll returns nothing, nil
// for none. It reports whether Poll blocks instead.
func (m *commitWaits) next(lens *graph.Lens) (ended <-chan struct{}, waits bool) {
	if ended = lens.Committing(); ended != nil && ended != m.last {
		m.commits, m.last = m.commits+1, ended
	}
	if m.commits > maxCommitWaits {
		return nil, true
	}
	return ended, false
}
