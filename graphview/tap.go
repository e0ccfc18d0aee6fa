package graphview

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// inlineCost is what the expressions of all views together may cost on one object,
// in CEL's units, before the watch goes on to the next object: about a millisecond. The
// other views, and from then on each view that needs more by itself, evaluate in their
// backlogs.
const inlineCost = expr.TurnCost

// errPostponed: an evaluation costs more than a watch has time for.
var errPostponed = errors.New("the evaluation is postponed")

// postpone is the expr.Turn of evaluations for which a watch waits.
func postpone(context.Context) (release func(), err error) { return nil, errPostponed }

// tap is what one view takes from one feed. newTap makes it.
type tap struct {
	view  *View
	need  plan.Need
	feed  *feed
	lease *watch.Lease
	// role says what becomes of the feed's objects.
	role role
	// judge decides about objects. A tap of Namespaces has none.
	judge atomic.Pointer[judge]
	// namespaces are those of whose objects the view may have some, nil for all. Only the
	// view's goroutine uses it.
	namespaces *tapNamespaces
	// indexed: the tap is in its feed's index, whose lock guards this.
	indexed  bool
	acquired time.Time
	// lacking: the watch is partial and does not have all namespaces that the view takes from
	// it. Only the view's goroutine uses it.
	lacking bool
	// replayed: the view has been shown all that the watch retained when the
	// tap was made.
	replayed atomic.Bool
	// behind: the view was not shown all that the watch retains. Only the view's
	// goroutine uses it.
	behind bool
	// slow: on some object its expressions cost more than a watch has time for.
	// It evaluates in its view's backlog, which holds pending of its objects.
	slow    atomic.Bool
	pending atomic.Int64
	// dropped: the backlog takes nothing for it any more, with whose lock it is used.
	dropped bool
	// complete: the tap was ready, and the feed has had all there is since. Only
	// the view's goroutine uses it.
	complete bool
	// had: the tap was complete at some time, apart from namespaces that the watch lacked. Only
	// the view's goroutine uses it.
	had bool
	// charged: the watch has shown the tap all there was. To be shown it again
	// costs the view nothing.
	charged atomic.Bool
	// closed: the view no longer takes anything from it. Only the loop uses it.
	closed bool
}

func newTap(v *View, n plan.Need, p *spec.Program) *tap {
	return &tap{view: v, need: n, role: roleOf(n, p), acquired: time.Now()}
}

// Judges implements delivery.Judge.
func (t *tap) Judges() (r graph.Resource, namespaces bool) {
	return resourceOf(t.need.Resource), t.need.OfNamespaces()
}

// state is the state of the watch. It changes at any time, so a caller that needs several of
// its fields calls state once.
func (t *tap) state() watch.State {
	if known := t.feed.state.Load(); known != nil {
		return *known
	}
	return watch.State{Reason: watch.Pending}
}

// setLacking records whether the watch lacks namespaces. The view waits for them from then
// on, not since it acquired the watch.
func (t *tap) setLacking(lacking bool) {
	if lacking && !t.lacking {
		t.acquired = time.Now()
	}
	t.lacking = lacking
}

// ready tells whether the view holds all that a feed so described has for it. What
// changes after that may still be in the backlog. It is called by the view's
// goroutine.
func (t *tap) ready(s watch.State) bool {
	shown := s.Synced && t.replayed.Load() && (t.complete || t.pending.Load() == 0)
	t.had = t.had || shown
	t.complete = shown && !t.lacking
	return t.complete
}

// retains reports whether the view still has the objects that it had when the tap was
// complete. A watch that is forbidden retains none.
func (t *tap) retains() bool { return t.had && t.state().Synced }

// evaluates tells whether the tap has expressions that may cost something.
func (t *tap) evaluates() bool { return t.role.evaluates(t) }

// isSlow reports whether the watch does not wait for the tap's evaluation: it costs too
// much, or may have ended the process and has to wait for other suspects.
func (t *tap) isSlow() bool { return t.slow.Load() || t.view.suspected.Load() && t.evaluates() }

// evaluate is the tap's verdict about one object of its feed. It is undecided once the
// view's expressions have cost too much: the keeper is about to give the tap up. If
// free, the owner is not charged.
func (t *tap) evaluate(ctx context.Context, o *watch.Decoded, free bool) verdict {
	budget := t.view.budget.Load()
	if budget.Exceeded() {
		return verdict{undecided: true}
	}
	if w := t.view.work.Load(); w != nil && t.evaluates() {
		task, err := t.view.engine.processors.Begin(ctx, t.view.owner, *w)
		if ctx.Err() != nil {
			return verdict{undecided: true}
		}
		if err != nil {
			return verdict{err: err}
		}
		defer task.End()
	}
	v := t.verdict(ctx, o)
	t.view.engine.processors.Cost.Add(v.cost)
	if errors.Is(v.err, errPostponed) {
		v = verdict{undecided: true, postponed: true, cost: v.cost}
	}
	if v.err != nil {
		t.view.engine.processors.LogPanic(v.err, t.need.Resource.String())
	}
	if v.cost > inlineCost {
		t.slow.Store(true)
	}
	if !free && !budget.Charge(v.cost) {
		t.view.kick()
	}
	return v
}

// reevaluate evaluates an object for a replay, outside the turn of its watch. It returns nil
// if there is no verdict.
func (t *tap) reevaluate(ctx context.Context, o *watch.Decoded, free bool) writer.Event {
	v := tapVerdict{t, t.evaluate(ctx, o, free)}
	if v.verdict.undecided || ctx.Err() != nil {
		return nil
	}
	return &replayEvent{o.Object, v}
}

// verdict evaluates the expressions. A panic of theirs is the object's trouble in
// this view.
func (t *tap) verdict(ctx context.Context, o *watch.Decoded) (v verdict) {
	defer panics.Recover(&v.err)
	return t.role.evaluate(ctx, t, o)
}
