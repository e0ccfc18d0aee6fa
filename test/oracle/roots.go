package oracle

import (
	"fmt"
	"maps"
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

// explore returns the vertices that can be reached from those in reached. An arc to a missing
// target leads nowhere.
func explore(whole Graph, reached map[VertexKey]bool, roots *Roots) map[VertexKey]bool {
	steps := map[VertexKey][]VertexKey{}
	for key, attributes := range whole.Arcs {
		if attributes.Missing {
			continue
		}
		along, against := passable(key.Type, roots)
		if along {
			steps[key.From] = append(steps[key.From], key.To)
		}
		if against {
			steps[key.To] = append(steps[key.To], key.From)
		}
	}
	rest := -1 // without a limit of steps
	if roots.Follow != nil && roots.Follow.Depth > 0 {
		rest = roots.Follow.Depth
	}
	for border := maps.Clone(reached); len(border) > 0 && rest != 0; rest-- {
		next := map[VertexKey]bool{}
		for vertex, is := range border {
			for _, other := range steps[vertex] {
				if is && !reached[other] {
					reached[other], next[other] = true, true
				}
			}
		}
		border = next
	}
	return reached
}

// passable reports whether arcs of a type are followed along and against their direction.
// Down leads from a user to the used object, along the arc, and from an owner to the owned
// object, against the arc.
func passable(arcType string, roots *Roots) (along, against bool) {
	f := roots.Follow
	if f == nil {
		return true, slices.Contains(roots.IgnoreArcDirection, arcType)
	}
	if len(f.Types) > 0 && !slices.Contains(f.Types, arcType) {
		return false, false
	}
	down, up := f.Direction != "Up", f.Direction != "Down"
	if arcType == "or" {
		return up, down
	}
	return down, up
}

// visible returns the reached part of the graph.
func visible(whole Graph, reached map[VertexKey]bool) Graph {
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
