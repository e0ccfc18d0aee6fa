package graphview

import (
	"context"
	"errors"
	"fmt"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/watch"
)

// judge decides whether the view selects a namespace. One for which the
// expression fails is left out.
func (n *namespaceProgram) judge(ctx context.Context, o *watch.Decoded) verdict {
	if n.names != nil && !n.names[o.Name()] {
		return verdict{}
	}
	if n.object == nil {
		return verdict{selection: graph.Selection{Member: true}}
	}
	var treeErr error
	in := &expr.Input{
		Version: "v1", Resource: "namespaces", Kind: "Namespace", Name: o.Name(),
		Object: func() map[string]any {
			tree, err := o.Tree()
			treeErr = err
			return tree
		},
	}
	matches, err := n.object.Matches(ctx, in)
	if err = errors.Join(treeErr, err); err != nil {
		return verdict{err: fmt.Errorf("namespaces.objectSelectorExpression: %w", err), cost: in.Cost}
	}
	return verdict{selection: graph.Selection{Member: matches}, cost: in.Cost}
}

// setNamespace is called by the loop with the decision about one namespace.
func (t *tap) setNamespace(name string, v verdict) {
	t.view.warnings.setFault(t, "", name, v.err)
	if v.selection.Member == t.inScope[name] {
		return
	}
	if v.selection.Member {
		t.inScope[name] = true
	} else {
		delete(t.inScope, name)
	}
	set := make(map[string]bool, len(t.inScope))
	for n := range t.inScope {
		set[n] = true
	}
	t.selected.Store(&set)
	t.view.kick()
}
