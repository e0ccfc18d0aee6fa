package oracle

import (
	"fmt"
	"slices"
)

// findRoots returns the objects for which one of the expressions holds.
func findRoots(objects []object, texts []string) (map[VertexKey]bool, error) {
	roots := map[VertexKey]bool{}
	for i, text := range texts {
		root, err := compile(text)
		if err != nil {
			return nil, fmt.Errorf("root expression %d: %w", i, err)
		}
		for i := range objects {
			if root.holds(objects[i].values()) {
				roots[objects[i].key] = true
			}
		}
	}
	return roots, nil
}

// visible is the part of the graph that can be reached: along arcs, and against
// those of the given types. An arc to something missing leads nowhere.
func visible(whole Graph, reached map[VertexKey]bool, ignoreDirection []string) Graph {
	for changed := true; changed; {
		changed = false
		for key, attributes := range whole.Arcs {
			if attributes.Missing {
				continue
			}
			if reached[key.From] && !reached[key.To] {
				reached[key.To], changed = true, true
			}
			if reached[key.To] && !reached[key.From] && slices.Contains(ignoreDirection, key.Type) {
				reached[key.From], changed = true, true
			}
		}
	}
	part := newGraph()
	for key, content := range whole.Vertices {
		if reached[key] {
			part.Vertices[key] = content
		}
	}
	for key, attributes := range whole.Arcs {
		if reached[key.From] && (attributes.Missing || reached[key.To]) {
			part.Arcs[key] = attributes
		}
	}
	return part
}
