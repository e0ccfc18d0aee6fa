package controllers

import (
	"context"
	"sync"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/panics"
)

// appliedAtOnce limits the specs of an owner that are applied at the same time: more of them take
// processors from other owners between the turns of the compiler, and the owner is not
// charged for a spec before it is compiled.
const appliedAtOnce = 1

// applier applies specs to the engine, each in a goroutine of its own. The engine compiles a spec in
// turns of its owner. If reconciles waited for that, a tenant with a few long specs would have all
// workers, and the GraphViews of other tenants would wait.
type applier struct {
	applierOptions

	turns   *fairqueue.Queue
	life    context.Context // of the goroutines
	end     context.CancelFunc
	running sync.WaitGroup

	mu           sync.Mutex
	applications map[graphview.Name]*application
	ended        bool
}

type applierOptions struct {
	engine Engine
	// read returns the present GraphView of a view. Waiting applications keep no spec: a tenant may have many.
	read func(ctx context.Context, name graphview.Name) (*v1alpha1.GraphView, error)
	// applied is called with the error of read or Engine.Apply, nil also if the spec has changed and was not
	// applied. The view has to be reconciled again.
	applied func(name graphview.Name, err error)
}

// application is a spec of a view that waits for the engine, and then the engine's answer.
type application struct {
	version version
	cancel  context.CancelFunc
	done    chan struct{} // closed at the end of the goroutine

	// answered is the version of the spec that err is about, after done is closed; zero for none.
	answered version
	err      error
}

// version identifies a spec of a view.
type version struct {
	uid        string
	generation int64
}

func newApplier(ctx context.Context, o applierOptions) *applier {
	a := &applier{
		applierOptions: o, turns: fairqueue.New(fairqueue.Options{PerOwner: appliedAtOnce}),
		applications: make(map[graphview.Name]*application),
	}
	a.life, a.end = context.WithCancel(ctx)
	return a
}

// Start implements manager.Runnable: it ends and joins the goroutines.
func (a *applier) Start(ctx context.Context) error {
	<-ctx.Done()
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.end()
	a.running.Wait()
	return nil
}

// apply applies the spec of a view, which has the given version, and returns the error of reading it or
// of Engine.Apply once that is known. Until then it returns false, and applied is called later. An
// answer is returned once.
func (a *applier) apply(name graphview.Name, v version) (known bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.applications[name]; p != nil {
		select {
		case <-p.done:
			delete(a.applications, name)
			if p.answered == v {
				return true, p.err
			}
		default:
			p.version = v
			return false, nil
		}
	}
	if a.ended {
		return false, nil
	}
	ctx, cancel := context.WithCancel(a.life)
	p := &application{version: v, cancel: cancel, done: make(chan struct{})}
	a.applications[name] = p
	a.running.Go(func() {
		defer cancel()
		v, err := a.run(ctx, name, p)
		p.answered, p.err = v, err
		close(p.done)
		a.applied(name, err)
	})
	return false, nil
}

// run reads the spec of a view when the owner has its turn, applies it to the engine, and returns its
// version. A spec of another version than was asked for last is not applied: it has not been checked.
func (a *applier) run(ctx context.Context, name graphview.Name, p *application) (v version, err error) {
	turn, err := a.turns.Acquire(ctx, budget.NamespaceOwner(name.Namespace))
	if err != nil {
		return version{}, err //nolint:wrapcheck // the context's
	}
	defer turn.Release()
	defer panics.Recover(&err)
	view, err := a.read(ctx, name)
	a.mu.Lock()
	asked := p.version
	a.mu.Unlock()
	switch {
	case err != nil:
		return asked, err
	case asked != version{string(view.UID), view.Generation}:
		return version{}, nil
	}
	return asked, a.engine.Apply(ctx, name, asked.uid, view.Spec)
}

// stop ends the application of a view's spec. The engine then has the spec that it had before, or
// the newer one.
func (a *applier) stop(name graphview.Name) {
	a.mu.Lock()
	p := a.applications[name]
	delete(a.applications, name)
	a.mu.Unlock()
	if p != nil {
		p.cancel()
		<-p.done
	}
}
