package graphview

import "time"

// What has gone from a view is remembered for those who come back. The graph
// bounds how much that is; here is how long: a view whose objects seldom change
// need not remember for weeks.
const (
	rememberFor = time.Hour
	markEvery   = 5 * time.Minute
)

// horizon notes now and then how far a view was, so that it is known later what
// is too old to be remembered.
type horizon struct{ marks []mark }

type mark struct {
	at   time.Time
	head uint64
}

// pass notes that the view is at head now, and returns the revision up to which
// nothing need be remembered any more, 0 for none.
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
