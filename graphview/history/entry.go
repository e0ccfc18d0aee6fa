package history

import (
	"slices"
	"unique"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/health"
)

// Op is the kind of a change.
type Op uint8

// The kinds of changes.
const (
	// Changed: the health, fields or references of the object changed.
	Changed Op = iota
	Added
	Removed
)

// Entry is one change of one object, and the state before it.
type Entry struct {
	// At is the time of the change, in microseconds since 1970. From, if it is not 0, is the earliest
	// time: the change happened between From and At. The From of an object that was added while no process ran is
	// its creation.
	At, From int64
	Op       Op
	Object   graph.Key
	Kind     string
	UID      string
	// Before is the health before the change, invalid if the object was not there. After is the health after it.
	Before, After Health
	// Summary is the JSON of the summary before the change. "" means that only the health in it changed, if
	// anything.
	Summary string
	// Paths are the fields that changed, and More counts those beside them.
	Paths []Path
	More  int
	// Arcs are the changed arcs from the object, or all of an object that was removed.
	Arcs []Arc
	// Views are the marks of the views that showed a removed object and do not show all objects of its resource.
	Views []uint32
}

// Arc is a change of an arc from the object of an entry.
type Arc struct {
	Type            graph.ArcType
	To              graph.Kind
	Namespace, Name string
	Before, After   graph.ArcSide
	// Implied: the arc changed because its target appeared or disappeared.
	Implied bool
}

// Health is a health.Health in 32 bytes.
type Health struct {
	reason         unique.Handle[string]
	ready, wanted  int32
	since, overdue uint32
	state          uint8 // plus one; 0 for none
	flags          uint8
}

const (
	counted uint8 = 1 << iota
	ended
)

// HealthOf packs a health. Counts and times that do not fit are cut off.
func HealthOf(h health.Health) Health {
	p := Health{
		state: uint8(slices.Index(health.States, h.State) + 1), reason: unique.Make(h.Reason), //nolint:gosec // a few
		ready: clip(h.Ready), wanted: clip(h.Wanted), since: uint32(max(h.Since, 0)), overdue: uint32(max(h.Overdue, 0)), //nolint:gosec // until 2106
	}
	if h.Counted {
		p.flags |= counted
	}
	if h.Ended {
		p.flags |= ended
	}
	return p
}

func clip(n int64) int32 { return int32(min(max(n, 0), 1<<31-1)) }

// Known reports whether there is a health.
func (h Health) Known() bool { return h.state != 0 }

// Unpack returns the health.
func (h Health) Unpack() health.Health {
	if h.state == 0 {
		return health.Health{State: health.Unknown}
	}
	return health.Health{
		State: health.States[h.state-1], Reason: h.reason.Value(), Ready: int64(h.ready), Wanted: int64(h.wanted), Counted: h.flags&counted != 0,
		Since: int64(h.since), Overdue: int64(h.overdue), Ended: h.flags&ended != 0,
	}
}

// SameWord reports whether two healths have the same state and reason.
func (h Health) SameWord(o Health) bool { return h.state == o.state && h.reason == o.reason }
