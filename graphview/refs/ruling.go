package refs

import (
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// ruling is the compiled rules of one kind: the tree of their paths, and the shape of the
// fields that they read.
type ruling struct {
	root  *node
	shape *jsontree.Shape
}

// rulings maps kinds to rulings. Kinds of the built-in table are compiled at the first
// use: the table has hundreds, and a cluster serves some of them.
type rulings map[graph.Kind]func() *ruling

// of returns the ruling of a kind, or nil.
func (r rulings) of(kind graph.Kind) *ruling {
	get := r[kind]
	if get == nil {
		return nil
	}
	return get()
}

// put sets a ruling that is compiled already.
func (r rulings) put(kind graph.Kind, compiled *ruling) {
	r[kind] = func() *ruling { return compiled }
}
