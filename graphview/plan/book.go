package plan

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// maxApart is the number of namespaces that views watch one by one. They share a watch of
	// all namespaces if there are more, until there are at most minShared.
	maxApart  = 16
	minShared = 8
)

// Kind is what a view would watch without other views.
type Kind int

const (
	// Guest is nothing: the view uses the watch only if other views share it.
	Guest Kind = iota
	// Single is a watch of each namespace.
	Single
	// Several is a watch of all namespaces that retains the objects of some.
	Several
	// Everything is a watch of all namespaces that retains all objects.
	Everything
)

// Demand is what a view demands of the watch of all namespaces with some key.
type Demand struct {
	Kind Kind
	// Namespaces are those whose objects the view needs, unless it needs everything.
	Namespaces []string
}

func (d Demand) equal(o Demand) bool {
	return d.Kind == o.Kind && slices.Equal(d.Namespaces, o.Namespaces)
}

// Share describes a watch of all namespaces that views share.
type Share struct {
	// Partial: no view needs everything, so the watch retains the objects of the namespaces
	// that views demand.
	Partial bool
	// Crowded: the watch replaces more watches than views may have one by one.
	Crowded bool
	// Listed are the namespaces of the partial watch's present list; nil if there has been
	// none. Relists: another list is about to begin, with all namespaces that views demand.
	Listed  map[string]bool
	Relists bool
}

// extent is how much of a watch is shared.
type extent int

const (
	nothing extent = iota
	someNamespaces
	everything
)

// Options of a Book.
type Options[V comparable] struct {
	// Linger is how long more is shared than necessary.
	Linger time.Duration
	// Tell is called with each view for which Shared has changed because of another view. It
	// must not block and must not call the Book.
	Tell func(V)
}

// Book knows the demands of all views V of the watches of all namespaces, by their keys K.
type Book[K, V comparable] struct {
	o Options[V]

	mu      sync.Mutex
	entries map[K]*entry[V]
	demands map[V]map[K]Demand
	lists   map[K]*list
}

// entry is about one key.
type entry[V comparable] struct {
	views map[V]struct{}
	// everything, several and single count views by kind, single by namespace. namespaces
	// counts all views that demand a namespace.
	everything, several int
	single, namespaces  map[string]int
	// shared is the present extent. spare is the time since when it has been more than
	// necessary, zero if it is not.
	shared  extent
	crowded bool
	spare   time.Time
}

// NewBook returns a Book without demands.
func NewBook[K, V comparable](o Options[V]) *Book[K, V] {
	return &Book[K, V]{o: o, entries: make(map[K]*entry[V]), demands: make(map[V]map[K]Demand), lists: make(map[K]*list)}
}

// Set replaces the demands of a view. The Book keeps the map.
func (b *Book[K, V]) Set(view V, demands map[K]Demand, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.demands[view]
	if maps.EqualFunc(before, demands, Demand.equal) {
		return
	}
	touched := make(map[K]bool)
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
			b.entries[k] = &entry[V]{views: make(map[V]struct{}), single: make(map[string]int), namespaces: make(map[string]int)}
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

// count adds a demand, or with -1 removes it.
func (b *Book[K, V]) count(k K, view V, d Demand, by int) {
	e, l := b.entries[k], b.lists[k]
	if by > 0 {
		e.views[view] = struct{}{}
	} else {
		delete(e.views, view)
	}
	switch d.Kind {
	case Everything:
		e.everything += by
	case Several:
		e.several += by
	case Guest, Single:
	}
	for _, namespace := range d.Namespaces {
		if d.Kind == Single {
			addTo(e.single, namespace, by)
		}
		if addTo(e.namespaces, namespace, by) {
			l.demanded(namespace, by > 0)
		}
	}
}

// addTo adds to a counter and reports whether that became, or ceased to be, zero.
func addTo(counts map[string]int, namespace string, by int) bool {
	counts[namespace] += by
	switch counts[namespace] {
	case 0:
		delete(counts, namespace)
		return true
	case by:
		return true
	default:
		return false
	}
}

// decide updates what is shared of one key, and notifies all views but one of a change.
func (b *Book[K, V]) decide(k K, but V, now time.Time) {
	e := b.entries[k]
	if len(e.views) == 0 {
		delete(b.entries, k)
		return
	}
	shared, crowded := e.shared, e.crowded
	e.crowded = len(e.single) > maxApart
	switch needed := e.needed(); {
	case needed >= e.shared:
		e.shared, e.spare = needed, time.Time{}
	case e.spare.IsZero():
		e.spare = now
		// All views have to know when to ask again.
		b.notify(e, but)
	case now.Sub(e.spare) >= b.o.Linger:
		e.shared, e.spare = needed, time.Time{}
	}
	if shared != e.shared || crowded != e.crowded {
		b.notify(e, but)
	}
}

// needed is the extent that the demands require.
func (e *entry[V]) needed() extent {
	switch {
	case e.everything > 0:
		return everything
	case e.several > 0, e.crowded, e.shared != nothing && len(e.single) > minShared:
		return someNamespaces
	default:
		return nothing
	}
}

func (b *Book[K, V]) notify(e *entry[V], but V) {
	for view := range e.views {
		if view != but {
			b.o.Tell(view)
		}
	}
}

// Shared returns the demanded watches of a view that are shared, and the time until the result
// may change without an event.
func (b *Book[K, V]) Shared(view V, now time.Time) (shared map[K]Share, again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, again = make(map[K]Share), time.Hour
	for k := range b.demands[view] {
		e, l := b.entries[k], b.lists[k]
		if !e.spare.IsZero() {
			b.decide(k, view, now)
		}
		again = min(again, l.relist(now))
		if e.shared != nothing {
			shared[k] = Share{Partial: e.shared == someNamespaces, Crowded: e.crowded}.with(l)
		}
		if !e.spare.IsZero() {
			again = min(again, max(e.spare.Add(b.o.Linger).Sub(now), 0))
		}
	}
	return shared, again
}

// Bounds of the time between two lists of a partial watch. Lists take at most a twentieth of the
// time, and at most a hundredth for each namespace that waits for the next one.
const (
	relistShare        = 20
	relistShareForEach = 100
	relistEvery        = 5 * time.Minute
)

// Lister is a partial watch. A *watch.Watch is one.
type Lister interface {
	// ID is greater than that of all earlier watches with the same key.
	ID() uint32
	// Relist begins another list. It must not block.
	Relist()
	// ListTime is the duration of the last list or, if longer, of the list under way.
	ListTime() time.Duration
}

// list is the last list of a partial watch, complete or not.
type list struct {
	by         Lister
	began      time.Time
	namespaces map[string]bool
	// waiting counts demanded namespaces that the list does not have, unneeded the listed
	// namespaces that no view demands any more.
	waiting, unneeded int
	// relists: another list was requested.
	relists bool
}

// Begin records that a partial watch lists, and returns the namespaces that views demand
// of it. The map does not change.
func (b *Book[K, V]) Begin(k K, by Lister, now time.Time) map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	namespaces := make(map[string]bool)
	if e := b.entries[k]; e != nil {
		for namespace := range e.namespaces {
			namespaces[namespace] = true
		}
	}
	if last := b.lists[k]; last == nil || last.by.ID() <= by.ID() {
		b.lists[k] = &list{by: by, began: now, namespaces: namespaces}
	}
	return namespaces
}

// End records that a partial watch has stopped.
func (b *Book[K, V]) End(k K, by Lister) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := b.lists[k]; last != nil && last.by.ID() == by.ID() {
		delete(b.lists, k)
	}
}

// demanded records that views began, or ceased, to demand a namespace.
func (l *list) demanded(namespace string, now bool) {
	by := 1
	if !now {
		by = -1
	}
	switch {
	case l == nil:
	case l.namespaces[namespace]:
		l.unneeded -= by
	default:
		l.waiting += by
	}
}

// relist requests another list if one is due, and returns the time until one is. More waiting
// than listed namespaces do not wait: the number of lists then grows with the logarithm of
// the number of namespaces.
func (l *list) relist(now time.Time) (again time.Duration) {
	if l == nil || l.relists || l.waiting == 0 && l.unneeded <= max(maxApart, len(l.namespaces)/2) {
		return time.Hour
	}
	took, pause := l.by.ListTime(), relistEvery
	if l.waiting > 0 {
		pause = min(pause, relistShareForEach*took/time.Duration(l.waiting))
	}
	due := l.began.Add(max(pause, relistShare*took))
	if l.waiting <= len(l.namespaces) && now.Before(due) {
		return due.Sub(now)
	}
	l.relists = true
	l.by.Relist()
	return time.Hour
}

// with adds what is known of the list.
func (s Share) with(l *list) Share {
	if l != nil {
		s.Listed, s.Relists = l.namespaces, l.relists
	}
	return s
}
