package intake

import (
	"maps"
	"sync"
)

// Namespaces are the namespaces whose objects may concern a consumer: all, or those with a name.
// Other objects need no verdict, so a shared watch does not ask each view about each object. The
// zero value is none.
type Namespaces struct {
	All   bool
	Names map[string]bool // empty if All
}

// AllNamespaces are all namespaces. The caller must not change them.
var AllNamespaces = &Namespaces{All: true}

// Has reports whether the namespace is among n.
func (n *Namespaces) Has(namespace string) bool { return n.All || n.Names[namespace] }

// Extend adds the names of namespaces that a judge may admit, and returns the new ones. all: the
// judge may admit objects of every namespace, and n does not. The caller then sets All, once it has
// moved the consumers in their indexes.
func (n *Namespaces) Extend(j *Judge) (added []string, all bool) {
	switch {
	case n.All:
		return nil, false
	case j.anywhere():
		return nil, true
	}
	for namespace, selected := range j.Namespaces {
		if selected && !n.Names[namespace] {
			if n.Names == nil {
				n.Names = make(map[string]bool)
			}
			n.Names[namespace] = true
			added = append(added, namespace)
		}
	}
	return added, false
}

// SetAll makes n all namespaces.
func (n *Namespaces) SetAll() { *n = Namespaces{All: true} }

// beyond returns the names that other does not have.
func (n *Namespaces) beyond(other *Namespaces) (names []string) {
	for namespace := range n.Names {
		if other.All || !other.Names[namespace] {
			names = append(names, namespace)
		}
	}
	return names
}

// namespaceSet is the set of namespaces that a view selects. The writer changes it one namespace at a
// time. All returns an immutable set: the set is copied at the first change after All, not at
// each change.
type namespaceSet struct {
	mu    sync.Mutex
	names map[string]bool
	// shared: All has returned names.
	shared bool
}

// Set adds or removes a namespace, and reports whether that changed the set.
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
