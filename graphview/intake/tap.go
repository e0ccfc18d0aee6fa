package intake

import (
	"context"
	"errors"
	"sync/atomic"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// inlineCost limits the cost of the expressions of all consumers together on one object, in CEL's
// units, before the watch continues with the next object: about a millisecond. The other consumers
// evaluate the object in their backlogs, and so does from then on each consumer that exceeds it by
// itself.
const inlineCost = expr.TurnCost

// errPostponed: an evaluation costs more than a watch has time for.
var errPostponed = errors.New("the evaluation is postponed")

// postpone is the expr.Turn of evaluations for which a watch waits.
func postpone(context.Context) (release func(), err error) { return nil, errPostponed }

// Tap takes objects from one feed for one consumer.
type Tap struct {
	evaluator *Evaluator
	feed      *Feed
	role      Role
	// judge decides about objects. A tap with a NamespaceRole has none.
	judge atomic.Pointer[Judge]
	// replayed: the consumer was shown all objects that the watch retained when the tap was made.
	replayed atomic.Bool
	// slow: on some object its expressions cost more than a watch has time for. It evaluates in its
	// backlog, which has pending of its objects.
	slow    atomic.Bool
	pending atomic.Int64
	// dropped: the backlog takes no further object of the tap. The lock of the Evaluator guards it.
	dropped bool
	// charged: the watch has shown the tap all objects. To list them again is free.
	charged atomic.Bool
	// closed: the consumer takes nothing more from the tap. Only the writer uses it.
	closed bool
}

// NewTap returns a tap that is not attached to its feed yet.
func NewTap(e *Evaluator, f *Feed, r Role) *Tap { return &Tap{evaluator: e, feed: f, role: r} }

// Judges implements delivery.Judge.
func (t *Tap) Judges() (r graph.Resource, namespaces bool) {
	_, namespaces = t.role.(*NamespaceRole)
	return ResourceOf(t.feed.resource), namespaces
}

// Attach begins to take objects of some namespaces from the feed.
func (t *Tap) Attach(n *Namespaces) { t.feed.taps.Add(t, n) }

// Detach ends that, and drops the tap's objects from the backlog.
func (t *Tap) Detach(n *Namespaces) {
	t.feed.taps.Remove(t, n)
	t.evaluator.drop(t)
}

// Close makes the writer ignore verdicts of the tap. Only the writer calls it.
func (t *Tap) Close() { t.closed = true }

// Closed reports whether the tap is closed. Only the writer calls it.
func (t *Tap) Closed() bool { return t.closed }

// Judge returns the judge, nil before SetJudge.
func (t *Tap) Judge() *Judge { return t.judge.Load() }

// SetJudge replaces the judge. Verdicts of the one before about other namespaces are ignored.
func (t *Tap) SetJudge(j *Judge) { t.judge.Store(j) }

// Admits reports whether the consumer selects the namespace now, as far as is known.
func (t *Tap) Admits(namespace string) bool {
	j := t.judge.Load()
	return j == nil || j.Admits(namespace)
}

// Replayed reports whether the consumer was shown all objects that the watch retained when the tap
// was made.
func (t *Tap) Replayed() bool { return t.replayed.Load() }

// Pending returns the number of objects in the backlog.
func (t *Tap) Pending() int64 { return t.pending.Load() }

func (t *Tap) setFault(namespace, name string, err error) {
	t.evaluator.consumer.Warnings().SetFault(t, namespace, name, err)
}

// isSlow reports whether the watch does not wait for the tap's evaluation: it costs too much, or may
// have ended the process and has to wait for other suspects.
func (t *Tap) isSlow() bool {
	return t.slow.Load() || t.evaluator.suspected.Load() && t.role.evaluates(t)
}

// evaluate returns the tap's verdict about one object of its feed. It is undecided if the owner's
// budget is exceeded, or if the evaluation is postponed to the backlog. If free, the owner is not
// charged.
func (t *Tap) evaluate(ctx context.Context, o *watch.Decoded, free bool) (v Verdict, postponed bool) {
	e, processors := t.evaluator, t.feed.intake.o.Processors
	budget := e.budget.Load()
	if budget.Exceeded() {
		return Verdict{Undecided: true}, false
	}
	if w := e.work.Load(); w != nil && t.role.evaluates(t) {
		task, err := processors.Begin(ctx, e.owner, *w)
		if ctx.Err() != nil {
			return Verdict{Undecided: true}, false
		}
		if err != nil {
			return Verdict{Err: err}, false
		}
		defer task.End()
	}
	v = t.verdict(ctx, o)
	processors.Cost.Add(v.Cost)
	if errors.Is(v.Err, errPostponed) {
		v, postponed = Verdict{Undecided: true, Cost: v.Cost}, true
	}
	if v.Err != nil {
		processors.LogPanic(v.Err, t.feed.resource.String())
	}
	if v.Cost > inlineCost {
		t.slow.Store(true)
	}
	if !free && !budget.Charge(v.Cost) {
		e.consumer.Kick()
	}
	return v, postponed
}

// reevaluate evaluates an object for a replay, outside the turn of its watch. It returns nil if
// there is no verdict.
func (t *Tap) reevaluate(ctx context.Context, o *watch.Decoded, free bool) writer.Event {
	v, _ := t.evaluate(ctx, o, free)
	if v.Undecided || ctx.Err() != nil {
		return nil
	}
	return &replayEvent{o.Object, tapVerdict{t, v}}
}

// verdict evaluates the expressions. A panic is the error of the object in this consumer.
func (t *Tap) verdict(ctx context.Context, o *watch.Decoded) (v Verdict) {
	defer panics.Recover(&v.Err)
	return t.role.evaluate(ctx, t, o)
}
