package plan

import (
	"maps"
	"slices"
	"sync"
	"time"

	"graphview.dev/graphview/watch"
)

const (
	// maxApart is the number of namespaces in which views watch a resource one by one. With more
	// namespaces, they share a watch of all, until at most minShared namespaces are left.
	maxApart  = 16
	minShared = 8
)

// Extent says how a view would watch a resource without other views.
type Extent int

const (
	// Guest demands no watch: the view uses the watch only if other views share it.
	Guest Extent = iota
	// Single is a watch of each namespace.
	Single
	// Everything is a watch of all namespaces.
	Everything
)

// Demand describes which objects a view demands from one watch of all namespaces.
type Demand struct {
	Extent Extent
	// Namespaces are the namespaces of a Single demand.
	Namespaces []string
}

func (d Demand) equal(o Demand) bool {
	return d.Extent == o.Extent && slices.Equal(d.Namespaces, o.Namespaces)
}

// Share describes a watch of all namespaces that views share.
type Share struct {
	// Crowded: the watch replaces more watches of single namespaces than maxApart.
	Crowded bool
}

// Options of a Book.
type Options[V comparable] struct {
	// Linger is the time for which a watch stays shared that too few views need.
	Linger time.Duration
	// Notify is called with each view whose shared watches have changed because of another view. It
	// must not block and must not call the Book.
	Notify func(V)
}

// Book holds the demands of all views V, and decides which watches views share.
type Book[V comparable] struct {
	o Options[V]

	mu      sync.Mutex
	entries map[watch.Key]*entry[V]
	demands map[V]map[watch.Key]Demand
}

// entry holds the demands for one key.
type entry[V comparable] struct {
	views map[V]struct{}
	// everything counts views of that kind, and single those of the other kind by namespace.
	everything int
	single     map[string]int
	// spare is the time since which the watch has been shared though too few views need it, zero if
	// it is not.
	shared, crowded bool
	spare           time.Time
}

// NewBook returns a Book without demands.
func NewBook[V comparable](o Options[V]) *Book[V] {
	return &Book[V]{o: o, entries: make(map[watch.Key]*entry[V]), demands: make(map[V]map[watch.Key]Demand)}
}

// Outline derives the needs of a view from its situation and from the watches that views share. It records
// the demands of the view.
func (b *Book[V]) Outline(view V, s Situation, now time.Time) Outline {
	c := claimsOf(s)
	b.set(view, c.demands, now)
	shared, again := b.shared(view, now)
	o := c.outline(shared)
	o.Again = again
	return o
}

// Forget removes the demands of a view.
func (b *Book[V]) Forget(view V, now time.Time) { b.set(view, nil, now) }

// set replaces the demands of a view. The Book keeps the map.
func (b *Book[V]) set(view V, demands map[watch.Key]Demand, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.demands[view]
	if maps.EqualFunc(before, demands, Demand.equal) {
		return
	}
	touched := make(map[watch.Key]bool)
	for k, d := range before {
		if next, ok := demands[k]; !ok || !next.equal(d) {
			b.count(k, view, d, -1)
			touched[k] = true
		}
	}
	for k, d := range demands {
		if old, ok := before[k]; ok && old.equal(d) {
			continue
		}
		if b.entries[k] == nil {
			b.entries[k] = &entry[V]{views: make(map[V]struct{}), single: make(map[string]int)}
		}
		b.count(k, view, d, 1)
		touched[k] = true
	}
	b.demands[view] = demands
	if len(demands) == 0 {
		delete(b.demands, view)
	}
	for k := range touched {
		b.decide(k, view, now)
	}
}

// count adds a demand if by is 1, and removes it if by is -1.
func (b *Book[V]) count(k watch.Key, view V, d Demand, by int) {
	e := b.entries[k]
	if by > 0 {
		e.views[view] = struct{}{}
	} else {
		delete(e.views, view)
	}
	if d.Extent == Everything {
		e.everything += by
	}
	for _, namespace := range d.Namespaces {
		if e.single[namespace] += by; e.single[namespace] == 0 {
			delete(e.single, namespace)
		}
	}
}

// decide updates whether the watch of one key is shared, and notifies all views except one of a change.
func (b *Book[V]) decide(k watch.Key, except V, now time.Time) {
	e := b.entries[k]
	if len(e.views) == 0 {
		delete(b.entries, k)
		return
	}
	shared, crowded := e.shared, e.crowded
	e.crowded = len(e.single) > maxApart
	switch needed := e.needed(); {
	case needed || !e.shared:
		e.shared, e.spare = needed, time.Time{}
	case e.spare.IsZero():
		e.spare = now
		// All views have to know when to ask again.
		b.notify(e, except)
	case now.Sub(e.spare) >= b.o.Linger:
		e.shared, e.spare = needed, time.Time{}
	}
	if shared != e.shared || crowded != e.crowded {
		b.notify(e, except)
	}
}

// needed reports whether the demands require a shared watch.
func (e *entry[V]) needed() bool {
	return e.everything > 0 || e.crowded || e.shared && len(e.single) > minShared
}

func (b *Book[V]) notify(e *entry[V], except V) {
	for view := range e.views {
		if view != except {
			b.o.Notify(view)
		}
	}
}

// shared returns the shared ones among the watches that a view demands. again is the time until
// the result may change although the Book does not call Notify.
func (b *Book[V]) shared(view V, now time.Time) (shared map[watch.Key]Share, again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, again = make(map[watch.Key]Share), time.Hour
	for k := range b.demands[view] {
		e := b.entries[k]
		if !e.spare.IsZero() {
			b.decide(k, view, now)
		}
		if e.shared {
			shared[k] = Share{Crowded: e.crowded}
		}
		if !e.spare.IsZero() {
			again = min(again, max(e.spare.Add(b.o.Linger).Sub(now), 0))
		}
	}
	return shared, again
}
