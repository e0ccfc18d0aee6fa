package graphview

import (
	"time"

	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

// refusedAfter is the time for which a watch of all namespaces has to be forbidden before the view
// watches single namespaces instead. An API server that restarts forbids everything for a moment.
const refusedAfter = 5 * time.Second

// refused returns the resources that the operator may not watch in all namespaces, and the time
// until the result may change without an event. The refused watches continue to try, and the view
// uses them again once they succeed.
func (s *tapSet) refused(now time.Time) (refused map[resources.Resource]bool, again time.Duration) {
	refused, again = make(map[resources.Resource]bool), time.Hour
	for n, t := range s.needed {
		if !n.Everywhere() {
			continue
		}
		state := t.state()
		if state.Reason != watch.Forbidden {
			continue
		}
		if left := refusedAfter - now.Sub(state.Since); left > 0 {
			again = min(again, left)
			continue
		}
		refused[n.Resource] = true
	}
	return refused, again
}

// lateAfter is the time for which a view waits for a shared watch to sync before it watches its
// namespaces by itself.
const lateAfter = 10 * time.Second

// statuses returns the states of the watches by resource, and the time until the next
// watch is late.
func (s *tapSet) statuses(now time.Time) (of map[resources.Resource][]plan.WatchStatus, again time.Duration) {
	of, again = make(map[resources.Resource][]plan.WatchStatus), time.Hour
	for n, t := range s.needed {
		if n.OfNamespaces() || !n.Resource.Namespaced {
			continue
		}
		has := plan.WatchStatus{Key: n.Key, State: t.state(), Complete: t.wasComplete()}
		left := lateAfter - now.Sub(t.acquired)
		if has.Late = left <= 0; !has.Late && !has.State.Synced {
			again = min(again, left)
		}
		of[n.Resource] = append(of[n.Resource], has)
	}
	return of, again
}

// leasedBytes returns the view's part of the watches that it has.
func (s *tapSet) leasedBytes() (bytes int64) {
	for _, t := range s.all() {
		bytes += indexedBytes * int64(len(t.concerning().Names))
		if restricted(t.need) {
			has := t.state()
			bytes += watchBytes + (objectBytes*int64(has.Objects)+has.Bytes)/int64(max(1, t.lease.Leases()))
		}
	}
	return bytes
}
