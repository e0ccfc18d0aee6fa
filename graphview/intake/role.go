package intake

import (
	"context"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
)

// Role is the purpose of a tap: an ObjectRole, a ReleaseRole, or a NamespaceRole. Watches and
// backlogs call evaluates and evaluate; the writer calls the others.
type Role interface {
	// shows reports whether the objects are vertices of the consumer's graph.
	shows() bool
	// evaluates reports whether a verdict evaluates expressions, which may be costly.
	evaluates(t *Tap) bool
	// evaluate returns a verdict about one object.
	evaluate(ctx context.Context, t *Tap, o *watch.Decoded) Verdict
	// apply applies a verdict about an object. id is 0 for a role that shows no objects.
	apply(t *Tap, id graph.NodeID, namespace, name string, v Verdict)
	// remove removes a deleted object.
	remove(t *Tap, namespace, name string)
}

// ObjectRole is that of objects that are vertices of the consumer's graph.
type ObjectRole struct{}

func (ObjectRole) shows() bool { return true }

func (ObjectRole) evaluates(t *Tap) bool { return t.judges() }

func (ObjectRole) evaluate(ctx context.Context, t *Tap, o *watch.Decoded) Verdict {
	return t.judge.Load().Evaluate(ctx, o)
}

func (ObjectRole) apply(t *Tap, id graph.NodeID, namespace, name string, v Verdict) {
	t.countUnevaluated(v)
	t.evaluator.consumer.Lens().Select(id, v.Selection)
	if v.Err == nil && v.Selection.Member {
		v.Err = exceeded(t.feed.intake.o.Graph.Exceeded(id))
	}
	t.setFault(namespace, name, v.Err)
}

func (ObjectRole) remove(t *Tap, namespace, name string) { t.setFault(namespace, name, nil) }

// ReleaseRole is that of Secrets with Helm releases. Another watch brings the vertices, so the
// consumer gets only the faults of the releases.
type ReleaseRole struct{}

func (ReleaseRole) shows() bool { return false }

func (ReleaseRole) evaluates(t *Tap) bool { return t.judges() }

func (ReleaseRole) evaluate(ctx context.Context, t *Tap, o *watch.Decoded) Verdict {
	return t.judge.Load().evaluateRelease(ctx, o)
}

func (ReleaseRole) apply(t *Tap, _ graph.NodeID, namespace, name string, v Verdict) {
	t.countUnevaluated(v)
	t.setFault(namespace, name, v.Err)
}

func (ReleaseRole) remove(t *Tap, namespace, name string) { t.setFault(namespace, name, nil) }

// NamespaceRole is that of Namespaces, from which the consumer selects some.
type NamespaceRole struct {
	program  *spec.NamespaceProgram
	selected namespaceSet
}

// NewNamespaceRole returns a role that selects Namespaces, all of them if the program is nil.
func NewNamespaceRole(program *spec.NamespaceProgram) *NamespaceRole {
	if program == nil {
		program = &spec.NamespaceProgram{}
	}
	return &NamespaceRole{program: program}
}

// Selected returns the selected namespaces, never nil. The caller must not change the set.
func (r *NamespaceRole) Selected() map[string]bool { return r.selected.All() }

func (*NamespaceRole) shows() bool { return false }

func (r *NamespaceRole) evaluates(*Tap) bool { return r.program.Object != nil }

func (r *NamespaceRole) evaluate(ctx context.Context, _ *Tap, o *watch.Decoded) Verdict {
	return evaluateNamespace(ctx, r.program, o)
}

func (r *NamespaceRole) apply(t *Tap, _ graph.NodeID, _, name string, v Verdict) {
	t.setFault("", name, v.Err)
	if r.selected.Set(name, v.Selection.Member) {
		t.evaluator.consumer.Kick()
	}
}

func (r *NamespaceRole) remove(t *Tap, _, name string) { r.apply(t, 0, "", name, Verdict{}) }

// judges reports whether the tap's judge has expressions.
func (t *Tap) judges() bool {
	j := t.judge.Load()
	return j != nil && j.evaluates()
}

func (t *Tap) countUnevaluated(v Verdict) {
	if v.Err != nil {
		t.feed.intake.Counts.Unevaluated.Add(1)
	}
}
