package refs

import (
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// ruling is what the rules of one kind come to: the tree of their paths, and what of an
// object they look at.
type ruling struct {
	root  *node
	shape *jsontree.Shape
}

func (r *ruling) add(c Compiled) {
	r.root.add(c.steps, c.end)
	addShape(r.shape, c.steps, &c.end)
}

// rulings are by kind. Those of the built-in table are compiled when they are first asked
// for: it lists some hundreds of kinds, of which a cluster serves a part.
type rulings map[graph.Kind]func() *ruling

// of returns the ruling of a kind, nil if there is none.
func (r rulings) of(kind graph.Kind) *ruling {
	get := r[kind]
	if get == nil {
		return nil
	}
	return get()
}

// put has the kind ruled by what is compiled already.
func (r rulings) put(kind graph.Kind, compiled *ruling) {
	r[kind] = func() *ruling { return compiled }
}
