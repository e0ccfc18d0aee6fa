package delivery

import "graphview.dev/graphview/graph"

// patience is how many commits aside a subscriber gives way to, one after the other,
// before it waits for the end of one itself. A Poll that waits keeps whoever asked from other
// graphs. One that gives way has to be run between the end of one commit and the beginning of
// the next, and under constant load there may be hundreds before it is.
const patience = 4

// missed are the commits aside that a subscriber found since it last read the graph.
type missed struct {
	commits int
	last    <-chan struct{}
}

// next returns what ends the commit aside that a Poll gives way to, nil for none, and
// whether the Poll is to wait for any that it finds.
func (m *missed) next(lens *graph.Lens) (ended <-chan struct{}, waits bool) {
	if ended = lens.Aside(); ended != nil && ended != m.last {
		m.commits, m.last = m.commits+1, ended
	}
	if m.commits > patience {
		return nil, true
	}
	return ended, false
}
