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

// maxTurns limits the memory of work: an evaluation makes up to 32 MB, and a compilation some tens
// of MB.
const maxTurns = 4

// Options of Processors.
type Options struct {
	// Journal records work, and refuses work that has ended the process before. Nil: no work is
	// recorded or refused.
	Journal *quarantine.Journal
	Logger  logr.Logger
}

// Processors share processors among owners.
type Processors struct {
	// Cost sums the cost of expressions, in CEL's units.
	Cost atomic.Uint64

	turns    *fairqueue.Queue
	suspects *fairqueue.Queue // work that may have ended the process before
	journal  *quarantine.Journal
	panics   panicLog
}

// NewProcessors returns Processors without any work. Half of the processors are left to events.
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

// Turn returns the owner's wait for a turn, for expressions.
func (p *Processors) Turn(owner budget.Owner) expr.Turn {
	return func(ctx context.Context) (release func(), err error) {
		within, _ := ctx.Value(tasksKey{}).(*tasks)
		defer within.pause()()
		// Replays of the owner are another part, so a compilation waits for one of them and not for all.
		turn, err := p.turns.AcquirePart(ctx, owner, "expressions", fairqueue.Interactive)
		return turn.Release, err
	}
}

// Task is recorded work that has begun.
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

// pause notes that the tasks wait for a turn until resume.
func (t *tasks) pause() (resume func()) {
	if t == nil {
		return func() {}
	}
	record, outer := t.record.Pause(), t.outer.pause()
	return func() { record(); outer() }
}

// Suspects reports whether the work may have ended the process before.
func (p *Processors) Suspects(w quarantine.Work) bool { return p.journal.Suspects(w) }

// Begin records work for an owner. Work that may have ended the process before waits until no other
// suspect is at work. The error is a *[quarantine.Refusal], or ctx's.
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

// Within returns a context for the parts of the work. The work is not under way while one of them
// waits for a turn. The parts of a suspect use its turn, and wait for no other one.
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

// End ends the work.
func (t Task) End() {
	t.record.End()
	t.suspect.Release()
}
