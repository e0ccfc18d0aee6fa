package quota

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/go-logr/logr"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/quarantine"
)

// maxTurns bounds the memory of concurrent work: an evaluation allocates up to 32 MB, a compilation
// some tens of MB.
const maxTurns = 4

// Options of Processors.
type Options struct {
	// Journal records work, and refuses work that has ended the process before. Nil: no work is
	// recorded or refused.
	Journal *quarantine.Journal
	Logger  logr.Logger
}

// Processors shares processor time among owners.
type Processors struct {
	// Cost sums the cost of expressions, in CEL's units.
	Cost atomic.Uint64

	turns    *fairqueue.Queue
	suspects *fairqueue.Queue // work that may have ended the process before
	journal  *quarantine.Journal
	panics   panicLog
}

// NewProcessors returns Processors that use at most half of the processors. Events use the others.
func NewProcessors(o Options) *Processors {
	return &Processors{
		turns:    fairqueue.New(fairqueue.Options{AtOnce: min(maxTurns, max(1, runtime.GOMAXPROCS(0)/2))}),
		suspects: fairqueue.New(fairqueue.Options{AtOnce: 1}),
		journal:  o.Journal, panics: panicLog{logger: o.Logger},
	}
}

// Acquire waits for a turn of an owner.
func (p *Processors) Acquire(ctx context.Context, owner budget.Owner, class fairqueue.Class) (fairqueue.Turn, error) {
	return p.turns.Acquire(ctx, owner, class)
}

// Waiting returns the number of goroutines that wait for a turn.
func (p *Processors) Waiting() int { return p.turns.Waiting() }

// Turn returns the function with which expressions of the owner wait for a turn.
func (p *Processors) Turn(owner budget.Owner) expr.Turn {
	return func(ctx context.Context) (release func(), err error) {
		within, _ := ctx.Value(tasksKey{}).(*tasks)
		defer within.pause()()
		// Replays of the owner are another part of the queue, so a compilation waits for at most one.
		turn, err := p.turns.AcquirePart(ctx, owner, "expressions", fairqueue.Interactive)
		return turn.Release, err
	}
}

// Task is work in progress that the journal has recorded.
type Task struct {
	record  quarantine.Record
	suspect fairqueue.Turn
}

// suspectKey marks the context of suspected work.
type suspectKey struct{}

// tasksKey is the key of the tasks that a context is in.
type tasksKey struct{}

// tasks are the tasks that a context is in, innermost first.
type tasks struct {
	record quarantine.Record
	outer  *tasks
}

// pause records that the tasks wait for a turn until the caller calls resume.
func (t *tasks) pause() (resume func()) {
	if t == nil {
		return func() {}
	}
	record, outer := t.record.Pause(), t.outer.pause()
	return func() { record(); outer() }
}

// Suspects reports whether the work may have ended the process before.
func (p *Processors) Suspects(w quarantine.Work) bool { return p.journal.Suspects(w) }

// Begin records work for an owner. Suspected work waits, so that only one suspect runs at a time. The
// error is a *[quarantine.Refusal], or ctx's.
func (p *Processors) Begin(ctx context.Context, owner budget.Owner, w quarantine.Work) (t Task, err error) {
	if p.journal.Suspects(w) && ctx.Value(suspectKey{}) == nil {
		if t.suspect, err = p.suspects.Acquire(ctx, owner, fairqueue.Interactive); err != nil {
			return Task{}, err
		}
	}
	if t.record, err = p.journal.Begin(w); err != nil {
		t.suspect.Release()
		return Task{}, err
	}
	return t, nil
}

// Within returns the context for expressions of the work. While an expression waits for a turn, the
// journal does not count the work as in progress. Expressions of a suspect do not wait for a turn.
func (t Task) Within(ctx context.Context) context.Context {
	if t.suspect == (fairqueue.Turn{}) {
		if t.record == (quarantine.Record{}) {
			return ctx
		}
		outer, _ := ctx.Value(tasksKey{}).(*tasks)
		return context.WithValue(ctx, tasksKey{}, &tasks{t.record, outer})
	}
	return context.WithValue(expr.WithTurn(ctx, nil), suspectKey{}, true)
}

// End records the end of the work.
func (t Task) End() {
	t.record.End()
	t.suspect.Release()
}
