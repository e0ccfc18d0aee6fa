package refs

import (
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// kindRules is the compiled rules of one kind: the tree of their paths, and the shape of the
// fields that they read.
type kindRules struct {
	root  *node
	shape *jsontree.Shape
}

// rulesByKind maps kinds to their rules. Kinds of the built-in table are compiled at the first
// use: the table has hundreds, and a cluster serves some of them.
type rulesByKind map[graph.Kind]func() *kindRules

// of returns the rules of a kind, or nil.
func (r rulesByKind) of(kind graph.Kind) *kindRules {
	get := r[kind]
	if get == nil {
		return nil
	}
	return get()
}

// put sets rules that are compiled already.
func (r rulesByKind) put(kind graph.Kind, compiled *kindRules) {
	r[kind] = func() *kindRules { return compiled }
}
