package graphview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/helm"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/plan"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/rules"
	"graphview.dev/graphview/schemas"
	"graphview.dev/graphview/spec"
	"graphview.dev/graphview/watch"
	"graphview.dev/graphview/writer"
)

// Engine has the graph and all views. Its methods are safe for concurrent use, before, during and
// after Run.
type Engine struct {
	o         Options
	discovery *resources.Discovery
	schemas   *schemas.Client
	// schemaReader reads the schemas of watched kinds.
	schemaReader *rules.SchemaReader
	watches      *watch.Manager
	rules        *rules.Set
	intake       *intake.Intake
	run          *delivery.Run
	delivered    delivery.Shared

	// Only the writer writes the graph.
	writer *writer.Writer
	graph  *graph.Graph

	// shared decides which watches of all namespaces are shared by views.
	shared *plan.Book[*View]

	processors *quota.Processors
	budgets    *budget.Buckets // of the cost of expressions
	ledger     *budget.Ledger
	// rights of the users that restrict views, except those of subscribers. asker asks about them, and reviews
	// counts its questions.
	rights  *rights.Permissions
	asker   *access.Asker
	reviews *prometheus.CounterVec

	// mu guards the fields after it. A goroutine with mu does not wait.
	mu       sync.Mutex
	views    map[Name]*View
	opened   map[*View]struct{} // ad-hoc views
	viewsCtx context.Context    // ends when all views must end; nil before Run
	running  sync.WaitGroup     // of views and rights
	stopped  bool
}

// NewEngine returns an Engine that sends no request before Run.
func NewEngine(o Options) (*Engine, error) {
	o.setDefaults()
	ledger := budget.NewLedger(o.HeldBytes)
	namespaces := budget.NewNamespaces(ledger)
	e := &Engine{
		o:       o,
		run:     delivery.NewRun(),
		graph:   graph.New(namespaces),
		views:   make(map[Name]*View),
		budgets: budget.NewBuckets(o.Budget, budgetRefill),
		ledger:  ledger,
		opened:  make(map[*View]struct{}),

		processors: quota.NewProcessors(o.Logger),
		shared:     plan.NewBook(plan.Options[*View]{Linger: o.Linger, Notify: func(v *View) { v.evaluator.Kick() }}),
	}
	e.writer = writer.New(e.graph)
	e.delivered.Turn = e.processors.EncodeTurn
	if err := e.newRights(); err != nil {
		return nil, err
	}
	var err error
	if e.discovery, err = resources.New(resources.Options{Config: o.Config, Watchable: e.watchable(), Logger: o.Logger.WithName("discovery")}); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	reducer := new(helm.Reducer)
	if e.watches, err = watch.NewManager(watch.Options{Config: o.Config, Reduce: reducer.Secret, Namespaces: namespaces, Logger: o.Logger.WithName("watch")}); err != nil {
		return nil, fmt.Errorf("watches: %w", err)
	}
	e.rules = rules.NewSet(func() { e.intake.RulesChanged() })
	e.intake = intake.New(intake.Options{
		Graph: e.graph, Writer: e.writer, Watches: e.watches, Rules: e.rules, Processors: e.processors, Discovery: e.discovery, Reducer: reducer,
		Retry: o.LimitRetry, WithoutHealth: o.WithoutHealth, History: o.History, Logger: o.Logger,
	})
	if e.schemas, err = schemas.New(o.Config); err != nil {
		return nil, err
	}
	e.schemaReader = rules.NewSchemaReader(e.rules, rules.SchemaOptions{
		Client: e.schemas, Watched: e.watchedResources, Discovery: e.discovery, Logger: o.Logger,
	})
	if o.Registerer != nil {
		err := o.Registerer.Register(metrics{e})
		if len(o.Relations) > 0 && err == nil {
			err = o.Registerer.Register(relations{e, maxRelations})
		}
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return e, nil
}

// Run serves views until ctx ends. It joins the goroutines of views first, then those of watches, and
// last the writer, to which both send.
func (e *Engine) Run(ctx context.Context) error {
	below, stopBelow := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBelow()
	bottom, stopBottom := context.WithCancel(below)
	defer stopBottom()
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	var writing, sources sync.WaitGroup
	writing.Go(func() { e.writer.Run(bottom) })
	if e.o.History != nil {
		recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
		var recorded sync.WaitGroup
		recorded.Go(func() { e.o.History.Run(recording) })
		defer recorded.Wait()
		defer stopRecording() // after the writer has ended
	}
	middle, stopMiddle := context.WithCancel(below)
	defer stopMiddle()
	for what, run := range map[string]func(context.Context) error{
		"discovery": e.discovery.Run, "watches": e.watches.Run, "rules": e.intake.Run, "schemas": e.schemaReader.Run,
	} {
		sources.Go(func() {
			if err := run(middle); err != nil {
				fail(fmt.Errorf("%s: %w", what, err))
			}
		})
	}

	e.mu.Lock()
	e.viewsCtx = failed
	e.running.Go(func() { e.rights.Run(failed) })
	e.eachLocked(e.startLocked)
	e.mu.Unlock()

	<-failed.Done()
	e.mu.Lock()
	e.stopped = true
	e.eachLocked(func(v *View) { v.end(stopping) })
	e.mu.Unlock()
	e.running.Wait()
	stopMiddle()
	sources.Wait()
	e.intake.Wait()
	stopBottom()
	writing.Wait()
	if cause := context.Cause(failed); ctx.Err() == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// eachLocked calls do for all views, named and ad-hoc.
func (e *Engine) eachLocked(do func(*View)) {
	for _, v := range e.views {
		do(v)
	}
	for v := range e.opened {
		do(v)
	}
}

// startLocked starts the goroutine of a view if the engine runs. After the engine has stopped, it
// ends the view instead.
func (e *Engine) startLocked(v *View) {
	if e.stopped {
		v.end(stopping)
	}
	if e.viewsCtx == nil || e.stopped {
		return
	}
	ctx := e.viewsCtx
	e.running.Go(func() { newKeeper(v).run(ctx) })
}

// Apply sets the spec of the view with a name. It is level-based: the same spec changes nothing, and
// another uid is another view. After a *spec.InvalidError, streams of the view end until a valid spec
// is applied. After the context's error, nothing has changed. A view whose owner may hold no more
// memory is accepted, and keeps no spec until the caller applies it again; see Status.Unapplied.
func (e *Engine) Apply(ctx context.Context, name Name, uid string, declared v1alpha1.GraphViewSpec) error {
	if v, ok := e.View(name); ok && v.uid == uid && v.sameSpec(declared) {
		return v.refusal()
	}
	// Compile without the lock, because each new stream waits for it.
	program, err := compiled(ctx, e, compilation{"GraphView", budget.NamespaceOwner(name.Namespace), spec.Costly(&declared)}, func(ctx context.Context, turn expr.Turn) (*spec.Program, error) {
		return spec.Compile(ctx, turn, declared)
	})
	if compileAborted(err) {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.viewLocked(name, uid); !v.refusedAs(err) {
		v.setSpec(program, err)
	}
	return err
}

// RunID returns the prefix of the revisions that this engine sends, up to the first dot.
func (e *Engine) RunID() string { return e.run.ID() }

// Refuse ends the streams of the view with a name until a spec is applied. The caller knows a reason
// that the compiler does not know. It is level-based.
func (e *Engine) Refuse(name Name, uid string, why *spec.InvalidError) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.viewLocked(name, uid); !v.refusedAs(why) {
		v.setSpec(nil, why)
	}
}

// viewLocked returns the view with a name and uid, or creates it. It ends a view of that name with
// another uid.
func (e *Engine) viewLocked(name Name, uid string) *View {
	v := e.views[name]
	if v != nil && v.uid != uid {
		e.removeLocked(v)
		v = nil
	}
	if v == nil {
		v = newView(e, name, uid)
		e.views[name] = v
		e.startLocked(v)
	}
	return v
}

var (
	deleted  = &delivery.ClosedError{Reason: reason.Deleted, Message: "the view was deleted"}
	stopping = &delivery.ClosedError{Reason: reason.Stopping, Message: "the server is stopping; reconnect"}
)

// Remove ends the view with a name, if it exists: its streams end, and it releases its watches.
func (e *Engine) Remove(name Name) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.views[name]; v != nil {
		e.removeLocked(v)
	}
}

// removeLocked ends a view whose GraphView was deleted.
func (e *Engine) removeLocked(v *View) {
	delete(e.views, v.name)
	v.end(deleted)
	if e.viewsCtx == nil {
		v.account.Close()
	}
}

// View returns the view with a name, and whether it exists.
func (e *Engine) View(name Name) (*View, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.views[name]
	return v, ok
}

// Views returns all named views, sorted by name.
func (e *Engine) Views() []*View {
	e.mu.Lock()
	defer e.mu.Unlock()
	views := make([]*View, 0, len(e.views))
	for _, v := range e.views {
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b *View) int { return strings.Compare(a.name.String(), b.name.String()) })
	return views
}

// Alive returns an error if the writer does not apply an event before ctx ends: the process is then
// stuck, or far too slow. It returns nil if the engine does not run.
func (e *Engine) Alive(ctx context.Context) error {
	e.mu.Lock()
	idle := e.viewsCtx == nil || e.stopped
	e.mu.Unlock()
	if idle {
		return nil
	}
	return e.writer.Try(ctx, func() {}) //nolint:wrapcheck // the error says what does not go on
}

// WaitDiscovered waits until the served kinds are known. If ctx ends first, it returns the reason why
// they are not known.
func (e *Engine) WaitDiscovered(ctx context.Context) error {
	if err := e.discovery.Wait(ctx); err != nil {
		return fmt.Errorf("discover what the server serves: %w", err)
	}
	return nil
}

// Served returns the catalog of the served kinds, nil while it is not known.
func (e *Engine) Served() *resources.Catalog {
	catalog, _ := e.discovery.Current()
	return catalog
}

// Watches returns the number of watches. Views may share them.
func (e *Engine) Watches() int { return e.watches.Len() }

// Retained returns the number of objects that all watches retain.
func (e *Engine) Retained() (objects int) {
	for _, f := range e.intake.Feeds() {
		objects += f.Watch().State().Objects
	}
	return objects
}

// Size returns the size of the shared graph.
func (e *Engine) Size() graph.Size { return e.graph.Size() }

// watchedResources returns the resources of all feeds.
func (e *Engine) watchedResources() []resources.Resource {
	all := e.intake.Feeds()
	watched := make([]resources.Resource, len(all))
	for i, f := range all {
		watched[i] = f.Resource()
	}
	return watched
}
