package graph

import (
	"slices"
	"strings"
)

// maxFields bounds the field paths of one arc.
const maxFields = 4

// fieldsFor interns a set of paths: sorted, without duplicates, at most maxFields.
func (g *Graph) fieldsFor(paths []string) fieldID {
	switch paths = firstFields(paths); len(paths) {
	case 0:
		return 0
	case 1:
		return g.fieldFor(paths[0])
	}
	return g.fieldSet(paths)
}

// firstFields sorts paths in place, without duplicates, and returns at most maxFields of them.
func firstFields(paths []string) []string {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(paths) > maxFields {
		slices.SortFunc(paths, comparePaths)
		paths = paths[:maxFields]
		slices.Sort(paths)
	}
	return paths
}

// comparePaths sorts inferred references last, since they are left out first.
func comparePaths(a, b string) int {
	switch x, y := isInferred(a), isInferred(b); {
	case x == y:
		return strings.Compare(a, b)
	case y:
		return -1
	default:
		return 1
	}
}

// fieldFor returns the set of one path, 0 for "". Nearly all sets have one path.
func (g *Graph) fieldFor(path string) fieldID {
	if path == "" {
		return 0
	}
	id, ok := g.onePath[path]
	if !ok {
		id = g.fieldSet([]string{path})
		g.onePath[g.pathLists[id][0]] = id
	}
	return id
}

func (g *Graph) fieldSet(paths []string) fieldID {
	var set [maxFields]string
	copy(set[:], paths)
	id := g.paths.intern(set)
	for len(g.pathLists) <= int(id) {
		g.pathLists = append(g.pathLists, nil)
	}
	if g.pathLists[id] == nil {
		set = g.paths.at(id)
		g.pathLists[id] = slices.Clone(set[:len(paths)])
	}
	return id
}

// dropFields drops what the graph stores for a set of paths outside the table.
func (g *Graph) dropFields(id fieldID) {
	if list := g.pathLists[id]; len(list) == 1 {
		delete(g.onePath, list[0])
	}
	g.pathLists[id] = nil
}

func (g *Graph) fieldsOf(id fieldID) []string {
	if id == 0 {
		return nil
	}
	return g.pathLists[id]
}

// declaredOf returns the paths of a set that are not inferred.
func (g *Graph) declaredOf(id fieldID) []string {
	paths := g.fieldsOf(id)
	if !slices.ContainsFunc(paths, isInferred) {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), isInferred)
}

func isInferred(path string) bool { return strings.HasPrefix(path, InferredField) }
