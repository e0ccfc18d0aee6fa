package delivery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/budget"
)

// maxCleared is the number of cleared warnings that are kept for subscribers that are behind.
const maxCleared = 256

var warningsBound = budget.Declare("view_warnings", "warnings of one view, or causes for which its objects could not be processed", 1000)

// Warnings has the live warnings of a view, numbered in the order in which they last changed. A
// subscriber remembers the number of its last change as its position.
type Warnings struct {
	changed func() // called after a change of Set or Reset, without mu

	mu     sync.Mutex
	number uint64
	live   map[WarningID]Warning
	// cleared has the last cleared warnings, oldest first. forgotten is the number of the last one
	// that was dropped from it.
	cleared   []Warning
	forgotten uint64
	// conditions are the ids of the warnings from Set.
	conditions map[WarningID]bool
	faults     faults
}

// NewWarnings returns empty Warnings that call changed after a change of Set or Reset.
func NewWarnings(changed func()) *Warnings {
	return &Warnings{
		changed:    changed,
		number:     1, // 0 is the position of a new subscriber
		live:       make(map[WarningID]Warning),
		conditions: make(map[WarningID]bool),
		faults:     newFaults(),
	}
}

// Set replaces all warnings except those about single objects.
func (w *Warnings) Set(all map[WarningID]Warning) {
	w.change(func() {
		live := limited(all)
		for id := range w.conditions {
			if _, ok := live[id]; !ok {
				w.clearLocked(id)
				delete(w.conditions, id)
			}
		}
		for _, id := range slices.SortedFunc(maps.Keys(live), WarningID.compare) {
			w.conditions[id] = true
			w.setLocked(id, live[id])
		}
	})
}

// limited truncates warnings to the maximum number for one view. One of the returned warnings then says
// how many are left out.
func limited(all map[WarningID]Warning) map[WarningID]Warning {
	most := int(warningsBound.Limit())
	if len(all) <= most {
		return all
	}
	exceeded := warningsBound.Exceed()
	some := make(map[WarningID]Warning, most)
	for _, id := range slices.SortedFunc(maps.Keys(all), WarningID.compare)[:most-1] {
		some[id] = all[id]
	}
	rest := Warning{Type: streamv1alpha1.LimitExceeded, Message: fmt.Sprintf("%d warnings are left out: %s", len(all)-len(some), exceeded)}
	some[rest.ID()] = rest
	return some
}

// change runs do, and calls changed if a warning changed.
func (w *Warnings) change(do func()) {
	if w.update(do) {
		w.changed()
	}
}

// Notify notifies subscribers of changes of SetFault and SetExceeded.
func (w *Warnings) Notify() { w.changed() }

// update runs do, and reports whether a warning changed.
func (w *Warnings) update(do func()) (changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.number
	do()
	return w.number != before
}

// Reset clears all warnings.
func (w *Warnings) Reset() {
	w.change(func() {
		w.faults = newFaults()
		clear(w.conditions)
		for _, id := range slices.SortedFunc(maps.Keys(w.live), WarningID.compare) {
			w.clearLocked(id)
		}
	})
}

func (w *Warnings) setLocked(id WarningID, next Warning) {
	if old, ok := w.live[id]; ok && old.Message == next.Message {
		return
	}
	w.number++
	next.number = w.number
	w.live[id] = next
}

func (w *Warnings) clearLocked(id WarningID) {
	old, ok := w.live[id]
	if !ok {
		return
	}
	delete(w.live, id)
	w.number++
	old.number = w.number
	w.cleared = append(w.cleared, old)
	if len(w.cleared) > maxCleared {
		w.forgotten = w.cleared[0].number
		w.cleared = slices.Delete(w.cleared, 0, 1)
	}
}

// since returns the warnings that were set and cleared after a number, and the number for the next
// call. If the number is 0, it returns all live warnings. If too many warnings were cleared since, it
// also returns all live warnings, and ok is false.
func (w *Warnings) since(number uint64) (set, cleared []Warning, now uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ok = number == 0 || number >= w.forgotten
	if !ok {
		number = 0
	}
	if number == w.number {
		return nil, nil, number, ok
	}
	for _, l := range w.live {
		if l.number > number {
			set = append(set, l)
		}
	}
	slices.SortFunc(set, func(a, b Warning) int { return cmp.Compare(a.number, b.number) })
	if number > 0 {
		for _, c := range w.cleared {
			if _, again := w.live[c.ID()]; !again && c.number > number {
				c.Message = ""
				cleared = append(cleared, c)
			}
		}
	}
	return set, cleared, w.number, ok
}

// head returns the number of the last change.
func (w *Warnings) head() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.number
}

// Summary returns lines for the status of a view: resources, counts and causes in a stable order,
// without names of objects. A coarse summary also leaves out which part of an expression failed, since
// that would reveal the content of an object.
func (w *Warnings) Summary(coarse bool) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for id := range w.conditions {
		out = append(out, w.live[id].Type+": "+w.live[id].Message)
	}
	counts := w.faults.counts
	if coarse {
		counts = make(map[faultGroup]int)
		for group, n := range w.faults.counts {
			group.cause.text = group.cause.coarse
			counts[group] += n
		}
	}
	for group, n := range counts {
		out = append(out, fmt.Sprintf("%s: %s: %d %s: %s", group.kind, resourceText(group.resource), n, group.cause.outcome(), group.cause.text))
	}
	slices.Sort(out)
	return out
}
