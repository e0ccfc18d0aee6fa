package outline

import (
	"cmp"
	"maps"
	"slices"

	"graphview.dev/client"
)

// line is a line of the outline.
type line struct {
	text   string  // instead of a vertex
	branch *branch // to the vertex; a root has only the fields to, absence and wrong
	begins bool
	trail  []bool // for each level above: whether more lines follow below it
	last   bool   // of its siblings
	hidden int    // branches below the maximum depth
}

// layout draws lines.
type layout struct {
	graph    *client.Graph
	remote   func(client.Key) []string
	branches map[client.Key][]branch
	owned    map[client.Key]bool // drawn under their owners; nil: at their first line
	depth    int
	lines    []line
	drawn    map[client.Key]int  // the line with the subtree of a vertex
	away     map[client.Key]bool // another object stands for them
	deeper   map[client.Key]bool // below vertices that are too deep
}

// level returns the number of levels between a line and its root.
func (at *line) level() int {
	if at.begins {
		return 0
	}
	return len(at.trail) + 1
}

// tops returns the default starts of trees: vertices without incoming arcs. Owners come first,
// then vertices with branches, then the rest.
func tops(g *client.Graph, all map[client.Key][]branch, name func(client.Key) string) []client.Key {
	below := map[client.Key]bool{}
	for from, list := range all {
		for _, b := range list {
			if b.to != from {
				below[b.to] = true
			}
		}
	}
	keys := map[client.Key]bool{}
	for key := range g.Vertices {
		keys[key] = !below[key]
	}
	for key := range all { // in reverse, a missing vertex has others below it
		keys[key] = !below[key]
	}
	maps.DeleteFunc(keys, func(_ client.Key, top bool) bool { return !top })
	rank := func(key client.Key) int {
		list := all[key]
		_, there := g.Vertices[key]
		switch {
		case !there:
			if NeededMost(g, key).Absent() {
				return 0
			}
			return 4
		case len(list) == 0:
			return 3
		case list[0].relation == owns:
			return 1
		default:
			return 2
		}
	}
	return slices.SortedFunc(maps.Keys(keys), func(a, b client.Key) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(name(a), name(b)), a.Compare(b))
	})
}

// begin draws a vertex and its subtree, unless they are drawn already.
func (l *layout) begin(key client.Key) {
	if _, done := l.drawn[key]; done || l.away[key] {
		return
	}
	b := &branch{to: key}
	if _, there := l.graph.Vertices[key]; !there {
		b.absence, b.wrong = Absence(NeededMost(l.graph, key))
	}
	l.draw(line{branch: b, begins: true})
}

// skip records the vertices below a drawn vertex that are too deep.
func (l *layout) skip(key client.Key) {
	left := []client.Key{key}
	for len(left) > 0 {
		key, left = left[len(left)-1], left[:len(left)-1]
		if !l.deeper[key] {
			l.deeper[key] = true
			for _, b := range l.branches[key] {
				left = append(left, b.to)
			}
		}
	}
}

// rest draws the vertices that are not drawn yet: those in a cycle without an incoming arc,
// and those above the roots.
func (l *layout) rest(name func(client.Key) string) {
	keys := slices.SortedFunc(maps.Keys(l.graph.Vertices), func(a, b client.Key) int {
		return cmp.Or(cmp.Compare(name(a), name(b)), a.Compare(b))
	})
	for _, ownedOnes := range []bool{false, true} {
		for _, key := range keys {
			if l.owned[key] == ownedOnes && !l.deeper[key] {
				l.begin(key)
			}
		}
	}
}

func (l *layout) draw(at line) {
	key := at.branch.to
	list := l.branches[key]
	elsewhere := l.owned[key] && !at.begins && at.branch.relation != owns
	if _, done := l.drawn[key]; done || elsewhere {
		l.lines = append(l.lines, at)
		return
	}
	remote := l.remote(key)
	if n := len(list) + len(remote); l.depth > 0 && at.level() >= l.depth && n > 0 {
		at.hidden = n
		l.skip(key)
		l.lines = append(l.lines, at)
		return
	}
	l.drawn[key] = len(l.lines)
	l.lines = append(l.lines, at)
	trail := at.trail
	if !at.begins {
		trail = append(slices.Clone(trail), !at.last)
	}
	for i := range list {
		l.draw(line{branch: &list[i], trail: trail, last: i == len(list)+len(remote)-1})
	}
	for i, text := range remote {
		l.lines = append(l.lines, line{text: text, branch: &branch{}, trail: trail, last: i == len(remote)-1})
	}
}
