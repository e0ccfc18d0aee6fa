package graphview

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// evaluateNamespace decides whether the view selects a namespace. One for which the
// expression fails is left out.
func evaluateNamespace(ctx context.Context, n *spec.NamespaceProgram, o *watch.Decoded) verdict {
	if n.Names != nil && !n.Names[o.Name()] {
		return verdict{}
	}
	if n.Object == nil {
		return verdict{selection: graph.Selection{Member: true}}
	}
	in := newInput(o, resources.Resource{Version: "v1", Resource: "namespaces", Kind: "Namespace"})
	matches, err := n.Object.Matches(ctx, in)
	if err != nil {
		return verdict{err: fmt.Errorf("namespaces.objectSelectorExpression: %w", err), cost: in.Cost}
	}
	return verdict{selection: graph.Selection{Member: matches}, cost: in.Cost}
}

// namespaceSet is which namespaces a view selects. The loop changes it one by one,
// and whoever asks for it gets a set that does not change: it is copied when it is
// asked for, not at each change.
type namespaceSet struct {
	mu    sync.Mutex
	names map[string]bool
	// shared: names was given away, and is copied before it changes.
	shared bool
}

// set puts a namespace in or takes it out, and tells whether it was the other way.
func (s *namespaceSet) set(name string, in bool) bool {
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

// all returns the set. It is never nil, and nobody may change it.
func (s *namespaceSet) all() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.shared = true
	return s.names
}
