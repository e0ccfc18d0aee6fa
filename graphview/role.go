package graphview

import (
	"context"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// role is what a view takes from one of its watches. Watches and the backlog call
// evaluates and evaluate, the loop calls the others.
type role interface {
	// evaluates tells whether there are expressions that may cost something.
	evaluates(t *tap) bool
	// evaluate decides about one object.
	evaluate(ctx context.Context, t *tap, o *watch.Decoded) verdict
	// decided takes in what was decided about an object, which is a node of the graph
	// unless it is only told about.
	decided(t *tap, id graph.NodeID, namespace, name string, v verdict)
	// gone takes in that there is an object no more.
	gone(t *tap, namespace, name string)
}

// roleOf is the role of a watch that a view needs.
func roleOf(n plan.Need, p *spec.Program) role {
	switch {
	case n.OfNamespaces():
		program := p.Namespaces
		if program == nil {
			program = &spec.NamespaceProgram{}
		}
		return &namespaceRole{program: program}
	case n.OfReleases():
		return releaseRole{}
	default:
		return objectRole{}
	}
}

// objectRole: the objects are vertices of the view's graph.
type objectRole struct{}

func (objectRole) evaluates(t *tap) bool { return t.judges() }

func (objectRole) evaluate(ctx context.Context, t *tap, o *watch.Decoded) verdict {
	j := t.judge.Load()
	v := j.evaluate(ctx, o)
	v.by = j
	return v
}

func (objectRole) decided(t *tap, id graph.NodeID, namespace, name string, v verdict) {
	t.countUnevaluated(v)
	t.view.lens.Select(id, v.selection)
	if v.err == nil && v.selection.Member {
		v.err = exceeded(t.view.engine.graph.Exceeded(id))
	}
	t.view.warnings.SetFault(t, namespace, name, v.err)
}

func (objectRole) gone(t *tap, namespace, name string) {
	t.view.warnings.SetFault(t, namespace, name, nil)
}

// releaseRole: the objects are Secrets of Helm's releases. What these manage is added
// to vertices that another watch brings, so that the view is told faults alone.
type releaseRole struct{}

func (releaseRole) evaluates(t *tap) bool { return t.judges() }

func (releaseRole) evaluate(ctx context.Context, t *tap, o *watch.Decoded) verdict {
	j := t.judge.Load()
	v := warningOf(o, func() verdict { return j.evaluate(ctx, o) })
	v.by = j
	return v
}

func (releaseRole) decided(t *tap, _ graph.NodeID, namespace, name string, v verdict) {
	t.countUnevaluated(v)
	t.view.warnings.SetFault(t, namespace, name, v.err)
}

func (releaseRole) gone(t *tap, namespace, name string) {
	t.view.warnings.SetFault(t, namespace, name, nil)
}

// namespaceRole: the objects are Namespaces, and say which of them the view selects.
type namespaceRole struct {
	program *spec.NamespaceProgram
	// selected are those that it selects.
	selected namespaceSet
	// settled: the tap was ready when the view last asked which namespaces those are.
	// Only the view's goroutine uses it.
	settled bool
}

func (r *namespaceRole) evaluates(*tap) bool { return r.program.Object != nil }

func (r *namespaceRole) evaluate(ctx context.Context, _ *tap, o *watch.Decoded) verdict {
	return evaluateNamespace(ctx, r.program, o)
}

func (r *namespaceRole) decided(t *tap, _ graph.NodeID, _, name string, v verdict) {
	t.view.warnings.SetFault(t, "", name, v.err)
	if r.selected.set(name, v.selection.Member) {
		t.view.kick()
	}
}

func (r *namespaceRole) gone(t *tap, _, name string) { r.decided(t, 0, "", name, verdict{}) }

// judges tells whether the tap's judge has expressions.
func (t *tap) judges() bool {
	j := t.judge.Load()
	return j != nil && j.evaluates()
}

func (t *tap) countUnevaluated(v verdict) {
	if v.err != nil {
		t.view.engine.counts.unevaluated.Add(1)
	}
}
