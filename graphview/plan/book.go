package plan

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// maxApart is the number of namespaces in which views watch a resource one by one. With more
	// namespaces, they share a watch of all, until at most minShared namespaces are left.
	maxApart  = 16
	minShared = 8
)

// Kind says how a view would watch a resource without other views.
type Kind int

const (
	// Guest demands no watch: the view uses the watch only if other views share it.
	Guest Kind = iota
	// Single is a watch of each namespace.
	Single
	// Several is a watch of all namespaces that retains the objects of some namespaces.
	Several
	// Everything is a watch of all namespaces that retains all objects.
	Everything
)

// Demand describes which objects a view demands from one watch of all namespaces.
type Demand struct {
	Kind Kind
	// Namespaces are the namespaces that the view needs, unless it needs everything.
	Namespaces []string
}

func (d Demand) equal(o Demand) bool {
	return d.Kind == o.Kind && slices.Equal(d.Namespaces, o.Namespaces)
}

// Share describes a watch of all namespaces that views share.
type Share struct {
	// Partial: no view needs everything, so the watch retains only objects of the namespaces
	// that views demand.
	Partial bool
	// Crowded: the watch replaces more watches of single namespaces than maxApart.
	Crowded bool
	// Listed are the namespaces of the partial watch's last list, complete or not; nil if there is
	// none. Relists: another list was requested. It will have all namespaces that views demand.
	Listed  map[string]bool
	Relists bool
}

// extent says which objects the shared watch of a key retains. nothing: no watch is shared.
type extent int

const (
	nothing extent = iota
	someNamespaces
	everything
)

// Options of a Book.
type Options[V comparable] struct {
	// Linger is the time for which a larger extent than necessary stays shared.
	Linger time.Duration
	// Notify is called with each view for which Shared has changed because of another view. It
	// must not block and must not call the Book.
	Notify func(V)
}

// Book holds the demands of all views V by watch key K, and decides which watches views share.
type Book[K, V comparable] struct {
	o Options[V]

	mu      sync.Mutex
	entries map[K]*entry[V]
	demands map[V]map[K]Demand
	lists   map[K]*list
}

// entry holds the demands for one key.
type entry[V comparable] struct {
	views map[V]struct{}
	// everything, several and single count views by kind, single by namespace. namespaces
	// counts all views that demand a namespace.
	everything, several int
	single, namespaces  map[string]int
	// shared is the present extent. spare is the time since which it has been larger than
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

// count adds a demand if by is 1, and removes it if by is -1.
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
			l.countDemand(namespace, by > 0)
		}
	}
}

// addTo adds to the counter of a namespace. It reports whether the counter was or became zero.
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

// decide updates the extent of one key, and notifies all views except but of a change.
func (b *Book[K, V]) decide(k K, except V, now time.Time) {
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
		b.notify(e, except)
	case now.Sub(e.spare) >= b.o.Linger:
		e.shared, e.spare = needed, time.Time{}
	}
	if shared != e.shared || crowded != e.crowded {
		b.notify(e, except)
	}
}

// needed returns the extent that the demands require.
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

func (b *Book[K, V]) notify(e *entry[V], except V) {
	for view := range e.views {
		if view != except {
			b.o.Notify(view)
		}
	}
}

// Shared returns the shared ones among the watches that a view demands. again is the time until
// the result may change although the Book does not call Tell.
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
			shared[k] = Share{Partial: e.shared == someNamespaces, Crowded: e.crowded}.withList(l)
		}
		if !e.spare.IsZero() {
			again = min(again, max(e.spare.Add(b.o.Linger).Sub(now), 0))
		}
	}
	return shared, again
}

// Bounds of the time between two lists of a partial watch. Lists take at most 5 % of the time, and
// at most 1 % for each namespace that waits for the next list.
const (
	relistShare        = 20
	relistShareForEach = 100
	relistEvery        = 5 * time.Minute
)

// Lister is a partial watch. A *watch.Watch is one.
type Lister interface {
	// ID is greater than the IDs of all earlier watches with the same key.
	ID() uint32
	// Relist begins another list. It must not block.
	Relist()
	// ListTime is the duration of the last list or of the list in progress, whichever is longer.
	ListTime() time.Duration
}

// list is the last list of a partial watch, complete or not.
type list struct {
	by         Lister
	began      time.Time
	namespaces map[string]bool
	// waiting counts the demanded namespaces that the list lacks. unneeded counts the listed
	// namespaces that no view demands any more.
	waiting, unneeded int
	// relists: another list was requested.
	relists bool
}

// Begin records that a partial watch begins a list, and returns the namespaces that views
// demand of it. The map does not change.
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

// countDemand records that the first view demands a namespace or, without now, that the last one ceased.
func (l *list) countDemand(namespace string, now bool) {
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

// relist requests another list if it is due, and returns the time until it is due. It is due at
// once if more namespaces wait than are listed: so the number of lists grows only with the
// logarithm of the number of namespaces.
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

// withList returns the Share with the state of the list, which may be nil.
func (s Share) withList(l *list) Share {
	if l != nil {
		s.Listed, s.Relists = l.namespaces, l.relists
	}
	return s
}
