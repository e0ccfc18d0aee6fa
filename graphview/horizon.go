package graphview

import "time"

// Tombstones are kept so that a reconnecting subscriber can resume. The graph limits their number.
// These limit their age: a view whose objects seldom change has no tombstones of last week.
const (
	rememberFor = time.Hour
	markEvery   = 5 * time.Minute
)

// horizon records revisions of a view and their times, to find the revision before which tombstones
// are too old.
type horizon struct{ marks []mark }

type mark struct {
	at   time.Time
	head uint64
}

// pass records the revision head, and returns the revision up to which tombstones can be dropped, 0
// for none.
func (h *horizon) pass(now time.Time, head uint64) uint64 {
	if n := len(h.marks); n == 0 || now.Sub(h.marks[n-1].at) >= markEvery {
		h.marks = append(h.marks, mark{now, head})
	}
	var old uint64
	for len(h.marks) > 0 && now.Sub(h.marks[0].at) >= rememberFor {
		old, h.marks = h.marks[0].head, h.marks[1:]
	}
	return old
}
