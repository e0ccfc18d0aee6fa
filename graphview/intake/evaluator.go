package intake

import (
	"context"
	"sync"
	"sync/atomic"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// Evaluator takes objects from feeds for one consumer: a view. It evaluates the consumer's expressions,
// charges their owner, and has a backlog of the objects whose evaluation watches do not wait for.
type Evaluator struct {
	intake   *Intake
	name     string // of the consumer, in the log
	warnings *delivery.Warnings
	lens     *graph.Lens // only the writer uses it
	kicks    chan struct{}
	// mark identifies the view in the history, 0 for a view that has no name. whole reports whether the view
	// shows all objects of its resources in its namespaces.
	mark  uint32
	whole atomic.Bool

	owner  budget.Owner
	budget atomic.Pointer[quota.Budget]

	backlog
}

// NewEvaluator returns the Evaluator of a consumer, which calls ChargeTo and SetLens before it takes
// objects from a feed.
func (in *Intake) NewEvaluator(w *delivery.Warnings, name string) *Evaluator {
	return &Evaluator{intake: in, warnings: w, name: name, kicks: make(chan struct{}, 1)}
}

// Mark sets the mark of the consumer in the history. It is called before the consumer takes objects.
func (e *Evaluator) Mark(mark uint32) { e.mark = mark }

// SetWhole says whether the consumer shows all objects of its resources in its namespaces.
func (e *Evaluator) SetWhole(whole bool) { e.whole.Store(whole) }

// SetLens sets the consumer's part of the graph. Only the writer calls it.
func (e *Evaluator) SetLens(l *graph.Lens) { e.lens = l }

// Kick makes the consumer check its taps again. It does not block.
func (e *Evaluator) Kick() {
	select {
	case e.kicks <- struct{}{}:
	default:
	}
}

// Kicks returns the channel that receives after a Kick.
func (e *Evaluator) Kicks() <-chan struct{} { return e.kicks }

// ChargeTo sets the owner and the budget of the consumer's expressions.
func (e *Evaluator) ChargeTo(owner budget.Owner, b *quota.Budget) {
	e.owner = owner
	e.budget.Store(b)
}

// Budget returns the budget of the consumer's expressions.
func (e *Evaluator) Budget() *quota.Budget { return e.budget.Load() }

// RenewBudget replaces the budget by a new one, and reports whether the old budget was exceeded.
func (e *Evaluator) RenewBudget() (exceeded bool) {
	before := e.budget.Load()
	e.budget.Store(before.Renewed())
	return before.Exceeded()
}

// Begin sets the context of the goroutine of the backlog. Before Begin, the backlog takes no objects.
func (e *Evaluator) Begin(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ctx = ctx
}

// backlog has the objects that a consumer has not evaluated yet, because its expressions are more
// costly than a shared watch may wait for. Until an object is evaluated, its previous verdict holds.
//
// A goroutine evaluates the objects while there are any. The Intake joins it.
type backlog struct {
	mu sync.Mutex
	// ctx is that of Begin.
	ctx     context.Context //nolint:containedctx // that of a goroutine which starts later
	working bool
	objects objectQueue[*Tap]
}

// enqueue adds an object for a tap to the backlog, or replaces an older version of it. The handler of
// the watch calls it after it has sent the event of the object, or the writer calls it. It ignores an
// object that the watch no longer retains. If free, the owner is not charged.
func (e *Evaluator) enqueue(t *Tap, o *watch.Object, free bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil || e.ctx.Err() != nil || t.State() == Closed || !o.Retained() {
		return
	}
	if e.objects.add(t, nameOf(o), queuedObject{object: o, free: free}) {
		t.pending++
	}
	if !t.feed.listed.Load() {
		t.onLocked(tapEnqueued)
	}
	if !e.working {
		e.working = true
		e.intake.evaluating.Go(e.run)
	}
}

// drop removes the objects of a tap from the backlog.
func (e *Evaluator) drop(t *Tap) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.objects.drop(t)
}

// dequeue removes a chunk of the oldest objects of the next tap. tap is nil if none are left.
func (e *Evaluator) dequeue() (tap *Tap, objects map[objectName]queuedObject) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		e.objects = objectQueue[*Tap]{}
	}
	tap, objects = e.objects.next(replayChunk)
	e.working = tap != nil
	return tap, objects
}

// run evaluates objects until the backlog is empty or ctx ends.
func (e *Evaluator) run() {
	for {
		t, queued := e.dequeue()
		if t == nil {
			return
		}
		objects := make([]*watch.Object, 0, len(queued))
		for _, o := range queued {
			objects = append(objects, o.object)
		}
		err := e.intake.runReplay(e.ctx, replay{watch: t.feed.watch, objects: objects, owner: e.owner, event: func(o *watch.Decoded) writer.Event {
			return t.reevaluate(e.ctx, o, queued[nameOf(o.Object)].free)
		}})
		if err != nil {
			// The watch has ended, so the tap ends too, or ctx has ended.
			e.intake.o.Logger.V(1).Info("Evaluating ended early", "view", e.name, "watch", t.feed.watch.Key().String(), "error", err.Error())
		}
		if e.evaluated(t, len(queued)) {
			e.Kick()
		}
	}
}

// evaluated records that the graph has the verdicts about objects of a tap. It reports whether the backlog
// has no others.
func (e *Evaluator) evaluated(t *Tap, objects int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.pending -= objects
	t.onLocked(tapAdvanced)
	return t.pending == 0
}
