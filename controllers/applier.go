package controllers

import (
	"context"
	"sync"

	"graphview.dev/graphview"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/fairqueue"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/spec"
)

// applier applies specs to the engine, each in a goroutine of its own. The engine compiles a spec in
// turns of its owner. If reconciles waited for that, a tenant with a few long specs would have all
// workers, and the GraphViews of other tenants would wait.
type applier struct {
	engine Engine
	// turns has the specs of an owner applied one after another: the owner is not charged for a spec
	// before it is compiled.
	turns *fairqueue.Queue
	// notify has a view reconciled, because its spec was applied.
	notify  func(graphview.Name)
	life    context.Context // of the goroutines
	running sync.WaitGroup

	mu           sync.Mutex
	applications map[graphview.Name]*application
}

// application is the newest spec of a view, and the engine's answer.
type application struct {
	version  version
	declared spec.Spec
	cancel   context.CancelFunc
	done     chan struct{} // closed at the end of the goroutine

	// answered is the version that err is about, once done is closed.
	answered version
	err      error
}

// version identifies a spec of a view.
type version struct {
	uid        string
	generation int64
}

func newApplier(life context.Context, engine Engine, notify func(graphview.Name)) *applier {
	return &applier{
		engine: engine, turns: fairqueue.New(fairqueue.Options{PerOwner: 1}), notify: notify, life: life,
		applications: make(map[graphview.Name]*application),
	}
}

// Start implements manager.Runnable: it joins the goroutines.
func (a *applier) Start(ctx context.Context) error {
	<-ctx.Done()
	a.running.Wait()
	return nil
}

// apply applies a spec, and returns the error of Engine.Apply once that is known. Until then the
// answer is not known, and the view is reconciled again when it is. An answer is returned once.
func (a *applier) apply(name graphview.Name, v version, declared spec.Spec) (known bool, err error) {
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
			p.version, p.declared = v, declared
			return false, nil
		}
	}
	ctx, cancel := context.WithCancel(a.life)
	p := &application{version: v, declared: declared, cancel: cancel, done: make(chan struct{})}
	a.applications[name] = p
	a.running.Go(func() { a.run(ctx, name, p) })
	return false, nil
}

// run applies the newest spec of a view when the owner has its turn.
func (a *applier) run(ctx context.Context, name graphview.Name, p *application) {
	defer p.cancel()
	turn, err := a.turns.Acquire(ctx, budget.NamespaceOwner(name.Namespace), fairqueue.Interactive)
	a.mu.Lock()
	v, declared := p.version, p.declared
	a.mu.Unlock()
	if err == nil {
		err = func() (err error) {
			defer turn.Release()
			defer panics.Recover(&err)
			return a.engine.Apply(ctx, name, v.uid, declared)
		}()
	}
	p.answered, p.err = v, err
	close(p.done)
	a.notify(name)
}

// stop ends what is done for a view. After it, the engine has the spec that it had before, or the
// newer one.
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
