package intake

import (
	"context"
	"errors"
	"sync/atomic"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// inlineCost is the cost of expressions that a watch waits for on one object, for all consumers
// together, in CEL's units: about a millisecond. The remaining consumers evaluate the object in their
// backlogs. A consumer that exceeds inlineCost by itself evaluates all further objects there.
//
// With all expressions in the backlogs, each change would be decoded once more for each consumer, which
// takes 24 µs, and its verdict would wait among replays: beside 20 views that begin, p99 was 327 ms
// instead of 16.
const inlineCost = expr.TurnCost

// Tap takes objects from one feed for one consumer.
type Tap struct {
	evaluator *Evaluator
	feed      *Feed
	role      Role
	faults    delivery.FaultOrigin // identifies the tap in the consumer's warnings
	// judge decides about objects. A tap with a NamespaceRole has none.
	judge atomic.Pointer[Judge]
	// state is a TapState. on changes it, with the lock of the Evaluator. pending is the number of the tap's
	// objects in the backlog, guarded by that lock.
	state   atomic.Int32
	pending int
	// slow: the expressions cost more than inlineCost on some object, so all objects are evaluated in
	// the backlog.
	slow atomic.Bool
	// charged: the tap has seen all objects of the watch. Its owner is not charged for a relist.
	charged atomic.Bool
}

// NewTap returns a tap. It takes no objects before Attach.
func NewTap(e *Evaluator, f *Feed, r Role) *Tap {
	_, namespaces := r.(*NamespaceRole)
	return &Tap{evaluator: e, feed: f, role: r, faults: delivery.FaultOrigin{Resource: ResourceOf(f.resource), Namespaces: namespaces}}
}

// DropFaults removes the consumer's warnings about objects of the tap. Only the writer calls it.
func (t *Tap) DropFaults() { t.evaluator.warnings.DropFaults(&t.faults) }

// Attach makes the tap take objects of some namespaces from the feed.
func (t *Tap) Attach(n *Namespaces) { t.feed.taps.Add(t, n) }

// Detach undoes Attach, and drops the tap's objects from the backlog.
func (t *Tap) Detach(n *Namespaces) {
	t.feed.taps.Remove(t, n)
	t.evaluator.drop(t)
}

// Close makes the writer ignore verdicts of the tap. Only the writer calls it.
func (t *Tap) Close() { t.on(tapClosed) }

// Judge returns the judge, nil before SetJudge.
func (t *Tap) Judge() *Judge { return t.judge.Load() }

// SetJudge replaces the judge. The writer ignores verdicts of old judges that selected other namespaces.
func (t *Tap) SetJudge(j *Judge) { t.judge.Store(j) }

// Admits reports whether the consumer may select the namespace. It is true before SetJudge.
func (t *Tap) Admits(namespace string) bool {
	j := t.judge.Load()
	return j == nil || j.Admits(namespace)
}

// setFault updates the consumer's warning about an object. Subscribers get it with the next publication
// of the lens, which the writer paces. In Update.
func (t *Tap) setFault(namespace, name string, err error) {
	if t.evaluator.warnings.SetFault(&t.faults, namespace, name, err) {
		t.evaluator.lens.Announce()
	}
}

// evaluate returns the tap's verdict about one object of its feed. The verdict is undecided if the
// owner's budget is exceeded, ctx has ended, or the evaluation is postponed to the backlog. If free, the
// owner is not charged.
func (t *Tap) evaluate(ctx context.Context, turn expr.Turn, o *watch.Decoded, free bool) (v Verdict, postponed bool) {
	e, processors := t.evaluator, t.feed.intake.o.Processors
	budget := e.budget.Load()
	if budget.Exceeded() {
		return Verdict{Undecided: true}, false
	}
	if ctx.Err() != nil {
		return Verdict{Undecided: true}, false
	}
	v = t.verdict(ctx, turn, o)
	processors.Cost.Add(v.Cost)
	if errors.Is(v.Err, expr.ErrPostponed) {
		v, postponed = Verdict{Undecided: true, Cost: v.Cost}, true
	}
	if v.Err != nil {
		processors.LogPanic(v.Err, t.feed.resource.String())
	}
	if v.Cost > inlineCost {
		t.slow.Store(true)
	}
	if !free && !budget.Charge(v.Cost) {
		e.Kick()
	}
	return v, postponed
}

// reevaluate evaluates an object for a replay. It returns nil if there is no verdict.
func (t *Tap) reevaluate(ctx context.Context, o *watch.Decoded, free bool) writer.Event {
	v, _ := t.evaluate(ctx, nil, o, free)
	if v.Undecided || ctx.Err() != nil {
		return nil
	}
	return &replayEvent{o.Object, tapVerdict{t, v}}
}

// verdict evaluates the expressions. A panic becomes the error of the verdict.
func (t *Tap) verdict(ctx context.Context, turn expr.Turn, o *watch.Decoded) (v Verdict) {
	defer panics.Recover(&v.Err)
	return t.role.evaluate(ctx, turn, t, o)
}

// Role is the purpose of a tap: an ObjectRole, a ReleaseRole, or a NamespaceRole. Only the writer calls
// apply and remove. Watches and backlogs call the other methods, too.
type Role interface {
	// shows reports whether the objects are vertices of the consumer's graph.
	shows() bool
	// evaluates reports whether a verdict evaluates expressions, which may be costly.
	evaluates(t *Tap) bool
	// evaluate returns a verdict about one object.
	evaluate(ctx context.Context, turn expr.Turn, t *Tap, o *watch.Decoded) Verdict
	// apply applies a verdict about an object. id is the vertex, 0 for a role that shows no objects.
	apply(t *Tap, id graph.NodeID, namespace, name string, v Verdict)
	// remove removes a deleted object.
	remove(t *Tap, namespace, name string)
}

// ObjectRole is the role of taps whose objects are vertices of the consumer's graph.
type ObjectRole struct{}

func (ObjectRole) shows() bool { return true }

func (ObjectRole) evaluates(t *Tap) bool { return t.judges() }

func (ObjectRole) evaluate(ctx context.Context, turn expr.Turn, t *Tap, o *watch.Decoded) Verdict {
	return t.judge.Load().Evaluate(ctx, turn, o)
}

func (ObjectRole) apply(t *Tap, id graph.NodeID, namespace, name string, v Verdict) {
	t.countUnevaluated(v)
	t.evaluator.lens.Select(id, v.Selection)
	if v.Err == nil && v.Selection.Member {
		v.Err = exceeded(t.feed.intake.o.Graph.Exceeded(id))
	}
	t.setFault(namespace, name, v.Err)
}

func (ObjectRole) remove(t *Tap, namespace, name string) { t.setFault(namespace, name, nil) }

// ReleaseRole is the role of taps of Helm releases. The vertices of the Secrets come from another
// watch, so the consumer gets only the faults of the releases.
type ReleaseRole struct{}

func (ReleaseRole) shows() bool { return false }

func (ReleaseRole) evaluates(t *Tap) bool { return t.judges() }

func (ReleaseRole) evaluate(ctx context.Context, turn expr.Turn, t *Tap, o *watch.Decoded) Verdict {
	return t.judge.Load().evaluateRelease(ctx, turn, o)
}

func (ReleaseRole) apply(t *Tap, _ graph.NodeID, namespace, name string, v Verdict) {
	t.countUnevaluated(v)
	t.setFault(namespace, name, v.Err)
}

func (ReleaseRole) remove(t *Tap, namespace, name string) { t.setFault(namespace, name, nil) }

// NamespaceRole is the role of a tap of Namespaces from which the consumer selects its namespaces.
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

func (r *NamespaceRole) evaluate(ctx context.Context, turn expr.Turn, _ *Tap, o *watch.Decoded) Verdict {
	return evaluateNamespace(ctx, turn, r.program, o)
}

func (r *NamespaceRole) apply(t *Tap, _ graph.NodeID, _, name string, v Verdict) {
	t.setFault("", name, v.Err)
	if r.selected.Set(name, v.Selection.Member) {
		t.evaluator.Kick()
	}
}

func (r *NamespaceRole) remove(t *Tap, _, name string) { r.apply(t, 0, "", name, Verdict{}) }

// judges reports whether the tap's judge has expressions or paths to evaluate.
func (t *Tap) judges() bool {
	j := t.judge.Load()
	return j != nil && j.evaluates()
}

func (t *Tap) countUnevaluated(v Verdict) {
	if v.Err != nil {
		t.feed.intake.Counts.Unevaluated.Add(1)
	}
}
