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
	for len(g.pathPayers) < len(g.pathLists) {
		g.pathPayers = append(g.pathPayers, 0)
	}
	if g.pathLists[id] == nil {
		set = g.paths.at(id)
		g.pathLists[id] = slices.Clone(set[:len(paths)])
	}
	return id
}

// dropFields drops the entries of the graph for a set of paths outside the table.
func (g *Graph) dropFields(id fieldID) {
	if list := g.pathLists[id]; len(list) == 1 {
		delete(g.onePath, list[0])
	}
	if payer := g.pathPayers[id]; payer != 0 {
		g.charge(payer, -pathBytes(g.pathLists[id]))
		g.spaces.release(payer)
		g.pathPayers[id] = 0
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

// pathSetBytes is the memory of a set of paths, in bytes, without their text. TestPathBytes compares it
// with the heap.
const pathSetBytes = 384

func pathBytes(paths []string) int {
	bytes := pathSetBytes
	for _, p := range paths {
		bytes += len(p)
	}
	return bytes
}

// newPathBytes returns the memory of the paths that the graph does not have yet, for an object with many
// references.
func (g *Graph) newPathBytes(want []desiredArc) (bytes int) {
	if len(want) < 32 || g.placeholderBytes == 0 {
		return 0
	}
	seen := make(map[string]struct{})
	for i := range want {
		path := want[i].field
		if _, known := g.onePath[path]; known || path == "" {
			continue
		}
		if _, again := seen[path]; !again {
			seen[path] = struct{}{}
			bytes += pathSetBytes + len(path)
		}
	}
	return bytes
}

// payPaths charges for a set of paths: custom resources have fields of any name. The first namespace with
// an arc of these paths pays until no arc has them.
func (g *Graph) payPaths(space spaceID, id fieldID) {
	if id == 0 || g.placeholderBytes == 0 || g.pathPayers[id] != 0 {
		return
	}
	g.pathPayers[id] = space
	g.spaces.hold(space)
	g.charge(space, pathBytes(g.pathLists[id]))
}

func isInferred(path string) bool { return strings.HasPrefix(path, InferredField) }
