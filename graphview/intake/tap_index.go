package intake

import (
	"maps"
	"slices"
	"sync"
)

// Index finds the consumers of a feed that an object may concern, by the namespace of the object. The
// cost of a change grows with the namespaces that it adds or removes. An Index is safe for concurrent
// use. It takes no other lock under its own. The zero value is empty.
type Index[T comparable] struct {
	mu sync.RWMutex
	// all are all consumers. everywhere are the consumers of all namespaces, within are the others
	// by namespace. Callers may read a returned slice without the lock: the index appends behind its
	// end, and removes from a copy.
	all        []T
	everywhere []T
	within     map[string][]T
}

// Concerned are the consumers that an object may concern.
type Concerned[T comparable] struct{ everywhere, within []T }

// Len returns the number of consumers.
func (c Concerned[T]) Len() int { return len(c.everywhere) + len(c.within) }

// Each is an iterator over the consumers.
func (c Concerned[T]) Each(yield func(T) bool) {
	for _, all := range [...][]T{c.everywhere, c.within} {
		for _, t := range all {
			if !yield(t) {
				return
			}
		}
	}
}

// For returns the consumers that an object in a namespace may concern.
func (x *Index[T]) For(namespace string) Concerned[T] {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return Concerned[T]{x.everywhere, x.within[namespace]}
}

// All returns all consumers. The caller must not change the slice.
func (x *Index[T]) All() []T {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.all
}

// Add adds a consumer that objects of the given namespaces concern.
func (x *Index[T]) Add(t T, n *Namespaces) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, t)
	x.moveLocked(t, new(Namespaces), n)
}

// Remove removes a consumer. It has no effect if the consumer is not in the index.
func (x *Index[T]) Remove(t T, n *Namespaces) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.all, t) {
		x.all = without(x.all, t)
		x.moveLocked(t, n, new(Namespaces))
	}
}

// Extend adds namespaces to a consumer, which must not have them yet. It has no effect if the consumer
// is not in the index.
func (x *Index[T]) Extend(t T, added []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(added) > 0 && slices.Contains(x.all, t) {
		x.appendLocked(t, added)
	}
}

// Move replaces the namespaces of a consumer. It has no effect if the consumer is not in the
// index.
func (x *Index[T]) Move(t T, from, to *Namespaces) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.all, t) {
		x.moveLocked(t, from, to)
	}
}

func (x *Index[T]) moveLocked(t T, from, to *Namespaces) {
	switch {
	case from.All && !to.All:
		x.everywhere = without(x.everywhere, t)
	case to.All && !from.All:
		x.everywhere = append(x.everywhere, t)
	}
	x.appendLocked(t, to.minus(from))
	for _, namespace := range from.minus(to) {
		if x.within[namespace] = without(x.within[namespace], t); len(x.within[namespace]) == 0 {
			delete(x.within, namespace)
		}
	}
}

func (x *Index[T]) appendLocked(t T, namespaces []string) {
	if x.within == nil {
		x.within = make(map[string][]T, len(namespaces))
	}
	for _, namespace := range namespaces {
		x.within[namespace] = append(x.within[namespace], t)
	}
}

// without returns a copy of a slice that lacks one element.
func without[T comparable](all []T, one T) []T {
	out := make([]T, 0, max(0, len(all)-1))
	for _, t := range all {
		if t != one {
			out = append(out, t)
		}
	}
	return out
}

// Namespaces are the namespaces whose objects may concern a consumer. Other objects need no verdict, so
// a shared watch does not ask each view about each object. The zero value is empty.
type Namespaces struct {
	All   bool
	Names map[string]bool // empty if All; the caller must not change it
	// shared: Names is also the set of a judge, so it must be copied before a change.
	shared bool
}

// AllNamespaces are all namespaces. The caller must not change them.
var AllNamespaces = &Namespaces{All: true}

// Has reports whether n contains the namespace.
func (n *Namespaces) Has(namespace string) bool { return n.All || n.Names[namespace] }

// Extend adds the namespaces that a judge may admit, and returns the new ones. If the judge may admit
// every namespace and n does not have All, it changes nothing and returns all. The caller then moves
// the consumers in their indexes, and calls SetAll.
func (n *Namespaces) Extend(j *Judge) (added []string, all bool) {
	switch {
	case n.All:
		return nil, false
	case j.anywhere():
		return nil, true
	}
	had := 0
	for namespace, selected := range j.Namespaces {
		switch {
		case !selected:
		case n.Names[namespace]:
			had++
		default:
			added = append(added, namespace)
		}
	}
	switch {
	case len(added) == 0:
	case had == len(n.Names):
		// The judge's set has all of n. No copy: most views have one judge for each resource, and all
		// judges have the same set.
		n.Names, n.shared = j.Namespaces, true
	default:
		if n.shared {
			n.Names, n.shared = maps.Clone(n.Names), false
		}
		for _, namespace := range added {
			n.Names[namespace] = true
		}
	}
	return added, false
}

// SetAll makes n contain all namespaces.
func (n *Namespaces) SetAll() { *n = Namespaces{All: true} }

// minus returns the names in n that are not Names of other.
func (n *Namespaces) minus(other *Namespaces) (names []string) {
	for namespace, in := range n.Names {
		if in && (other.All || !other.Names[namespace]) {
			names = append(names, namespace)
		}
	}
	return names
}

// namespaceSet is the set of namespaces that a view selects. The writer changes it one namespace at a
// time. A set that All has returned does not change: the next change makes a copy.
type namespaceSet struct {
	mu    sync.Mutex
	names map[string]bool
	// shared: All has returned names, so it must be copied before a change.
	shared bool
}

// Set adds or removes a namespace, and reports whether the set changed.
func (s *namespaceSet) Set(name string, in bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names[name] == in {
		return false
	}
	if s.names == nil || s.shared {
		next := make(map[string]bool, len(s.names)+1)
		maps.Copy(next, s.names)
		s.names, s.shared = next, false
	}
	if in {
		s.names[name] = true
	} else {
		delete(s.names, name)
	}
	return true
}

// All returns the set, which is never nil. The caller must not change it.
func (s *namespaceSet) All() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.shared = true
	return s.names
}
