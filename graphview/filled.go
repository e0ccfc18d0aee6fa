package graphview

import (
	"sync"
	"time"

	"graphview.dev/graphview/watch"
)

// filled are the namespaces of a partial watch that have been listed, as of the events
// that the graph has seen. The loop writes it, views read it.
type filled struct {
	mu sync.Mutex
	// known says why a namespace has not been listed yet, nil where it has.
	known map[*watch.Wanted]error
	// room is from how many on those are looked for that nobody wants any more.
	room int
}

// note takes in what a watch told.
func (f *filled) note(n *watch.Wanted, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = make(map[*watch.Wanted]error)
	}
	if f.known[n] = err; len(f.known) < f.room {
		return
	}
	for n := range f.known {
		if n.Ended() {
			delete(f.known, n)
		}
	}
	f.room = 2*len(f.known) + 8
}

// all tells whether all of these have been listed; if not, why, as far as that is known.
func (f *filled) all(wanted []*watch.Wanted) (all bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all = true
	for _, n := range wanted {
		failure, known := f.known[n]
		if !known || failure != nil {
			all = false
		}
		if err == nil {
			err = failure
		}
	}
	return all, err
}

// Filled tells the views that a namespace of a partial watch has been listed, after the
// objects that were.
func (f *feed) Filled(n *watch.Wanted, err error) {
	if err != nil {
		f.engine.counts.failures.Add(1)
	}
	f.engine.send(funcEvent(func() {
		f.filled.note(n, err)
		for t := range f.taps.tapsFor(n.Namespace()).each {
			t.view.kick()
		}
	}))
}

// want has the tap's watch retain what is in the namespaces that a judge may admit, if
// it is a partial one. It is called by the view's goroutine.
func (t *tap) want(j *judge) {
	if !t.need.Key.Partial {
		return
	}
	first := t.wanted == nil
	t.wanted = t.lease.Want(j.namespaces)
	if all, _ := t.feed.filled.all(t.wanted); !all && !first {
		// What it waits for from now on, it has not waited for before.
		t.acquired = time.Now()
	}
}
