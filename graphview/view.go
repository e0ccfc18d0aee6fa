package graphview

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/quota"
	"graphview.dev/graphview/rights"
	"graphview.dev/graphview/spec"
)

// View is one graph with subscribers. The goroutine of its keeper leases its watches. The writer writes
// its lens. The methods are safe for concurrent use.
type View struct {
	engine *Engine
	name   Name
	uid    string
	// subscriber restricts the watches of an ad-hoc view, by the rights that subscribers know; nil for named views.
	subscriber  user.Info
	subscribers *rights.Permissions
	named       bool

	done chan struct{} // closed when the view has ended

	lens      *graph.Lens // only the writer uses it; see publisher for readers
	warnings  *delivery.Warnings
	publisher *delivery.Publisher
	evaluator *intake.Evaluator
	account   *budget.Account // of memory
	// messages is the account of the messages that subscribers share. Their memory changes with each
	// change of the graph, so the status of the view does not have it.
	messages *budget.Account
	state    *delivery.ViewState

	mu      sync.Mutex
	program *spec.Program      // nil while the spec is invalid, or its owner may hold no memory for it
	cancel  context.CancelFunc // of the view's goroutine
	rows    []v1alpha1.ResourceStatus
	advice  advice.Advice
	// superseded ends the work of the view's goroutine on its plan; nil before the first plan.
	superseded context.CancelFunc
}

func newView(e *Engine, name Name, uid string) *View {
	v := &View{
		engine: e, name: name, uid: uid,
		done:  make(chan struct{}),
		state: delivery.NewViewState(),
		named: true,
	}
	v.warnings = delivery.NewWarnings(v.announceNews)
	v.publisher = delivery.NewPublisher(delivery.PublisherOptions{
		Name: name.String(), UID: uid, Run: e.run, Shared: &e.delivered, Warnings: v.warnings, State: v.state, Logger: e.o.Logger,
		Notify: v.notify,
		Hold:   v.chargeForSubscribers,
	})
	v.evaluator = e.intake.NewEvaluator(v.warnings, name.String())
	v.evaluator.Mark(v.mark())
	v.chargeTo(e.ledger.Account(budget.NamespaceOwner(name.Namespace)))
	return v
}

// Name returns the name of the view.
func (v *View) Name() Name { return v.name }

// UID returns the uid of the GraphView.
func (v *View) UID() string { return v.uid }

// Err returns the *ClosedError of new streams: its spec is refused, it exceeds a limit, or it has ended. It
// returns nil if the view is served.
func (v *View) Err() error {
	now := v.state.Now()
	if why := now.Err(); why != nil {
		return why
	}
	return nil
}

// refusal returns the *spec.InvalidError of a view with a refused spec, else nil.
func (v *View) refusal() error {
	if now := v.state.Now(); now.Phase == delivery.Refused {
		return now.Cause
	}
	return nil
}

// refusedAs reports whether the view is already refused for this reason.
func (v *View) refusedAs(why error) bool {
	present := v.refusal()
	return why != nil && present != nil && present.Error() == why.Error()
}

func (v *View) sameSpec(declared v1alpha1.GraphViewSpec) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.program != nil && reflect.DeepEqual(v.program.Spec, declared)
}

// setSpec charges the view's owner for a compiled spec, and sets it. If the owner may hold no more
// memory, the view gets no program until the spec is applied again; see Status.Unapplied. A view
// without a program is charged for viewBytes, unless the owner may not hold them.
func (v *View) setSpec(p *spec.Program, err error) {
	var overdrawn error
	if p != nil {
		overdrawn = v.account.Set(budget.Programs, compiledBytes(&p.Spec))
	}
	if p == nil || overdrawn != nil {
		_ = v.account.Set(budget.Programs, viewBytes)
		p = nil
	}
	v.setProgram(p, err)
	if overdrawn != nil {
		v.limit(v.state.Now().Generation, overdrawn)
	}
}

// setProgram sets the compiled spec, or the reason why there is none.
func (v *View) setProgram(p *spec.Program, err error) {
	v.mu.Lock()
	v.program = p
	v.evaluator.SetWhole(p != nil && p.Whole())
	next := delivery.State{Phase: delivery.Syncing, Generation: v.state.Now().Generation + 1}
	if v.evaluator.RenewBudget() {
		next.Before = delivery.Limited
	}
	if err != nil {
		next.Phase, next.Cause, next.Why = delivery.Refused, err, unserved(err)
	}
	v.state.To(next)
	v.setScopeLocked()
	v.supersedeLocked()
	v.mu.Unlock()
	v.evaluator.Kick()
}

// chargeForSubscribers is delivery.PublisherOptions.Hold.
func (v *View) chargeForSubscribers(use budget.Use, bytes int64) error {
	if use == budget.Messages {
		return v.messages.Set(use, bytes)
	}
	return v.account.Set(use, bytes)
}

// charge charges the view's owner for one use of memory. If the owner may hold no more, the view is not
// served until it is retried.
func (v *View) charge(use budget.Use, bytes int64) error {
	err := v.account.Set(use, bytes)
	if err != nil {
		v.limit(v.state.Now().Generation, err)
	}
	return err
}

// limit stops serving a view that exceeds a limit, until it is retried. It reports whether the view was
// served.
func (v *View) limit(generation int, why error) bool {
	if !v.state.To(delivery.State{Phase: delivery.Limited, Generation: generation, Cause: why, Until: time.Now().Add(v.engine.o.LimitRetry)}) {
		return false
	}
	v.interruptPlan()
	v.notify()
	return true
}

// interruptPlan ends the work of the view's goroutine on a plan, such as a replay, and makes it
// reconcile.
func (v *View) interruptPlan() {
	v.mu.Lock()
	v.supersedeLocked()
	v.mu.Unlock()
	v.evaluator.Kick()
}

// giveUpMemory stops serving the view. It returns false if the view is not served.
func (v *View) giveUpMemory(why *budget.Overdrawn) bool {
	return v.limit(v.state.Now().Generation, why)
}

// supersedeLocked ends the work of the view's goroutine on its plan.
func (v *View) supersedeLocked() {
	if v.superseded != nil {
		v.superseded()
	}
}

// chargeTo sets the account whose owner pays for the view. It is called before the view starts.
func (v *View) chargeTo(account *budget.Account) {
	v.account, v.messages = account, v.engine.ledger.Account(account.Owner())
	account.OnRelieve(v.giveUpMemory)
	v.evaluator.ChargeTo(account.Owner(), v.engine.newBudget(account.Owner()))
}

func (e *Engine) newBudget(owner budget.Owner) *quota.Budget {
	return quota.NewBudget(e.budgets.Bucket(owner))
}

// nextProgram returns the program to reconcile, and the state of the view. The view calls cancel when the
// program changes or its work is interrupted.
func (v *View) nextProgram(cancel context.CancelFunc) (*spec.Program, delivery.State) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.superseded = cancel
	return v.program, v.state.Now()
}

// end ends the view, its subscriptions and its goroutine.
func (v *View) end(why *delivery.ClosedError) {
	if !v.state.To(delivery.State{Phase: delivery.Ended, Why: why}) {
		return
	}
	close(v.done)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cancel != nil {
		v.cancel()
	}
}

// onEnd calls cancel when the view ends, or at once if it has ended.
func (v *View) onEnd(cancel context.CancelFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cancel = cancel
	if v.state.Now().Phase == delivery.Ended {
		cancel()
	}
}

// tooCostly returns the message for a view that is not served because its expressions cost too much.
func (v *View) tooCostly() string {
	others := "those of the other GraphViews of its namespace"
	if !v.named {
		others = "those of your other views"
	}
	if v.walksWithDepth() {
		return v.evaluator.Budget().Excess("the view's expressions, and finding what is within the depth of roots.follow whenever something changes,", others) +
			"; leave the depth out, simplify the expressions, or have label selectors or queries leave fewer objects to them"
	}
	return v.evaluator.Budget().Excess("the view's expressions, and changes that add or hide very many objects at once,", others) +
		"; simplify them, or have label selectors or queries leave fewer objects to them"
}

// walksWithDepth reports whether each change makes the lens explore again from the roots, to a depth.
func (v *View) walksWithDepth() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.program != nil && v.program.Walk.Depth > 0
}

// notify calls Options.Notify, because the status of the view may have changed.
func (v *View) notify() {
	if v.named {
		v.engine.o.Notify(v.name)
	}
}

// announceNews notifies subscribers of changes of the sync state or the warnings.
func (v *View) announceNews() {
	_ = v.charge(budget.Faults, v.warnings.Bytes()) // the keeper handles the error
	v.state.Announce()
	v.notify()
}

// Subscribe returns a new subscription. The caller closes it.
func (v *View) Subscribe(o delivery.SubscribeOptions) *delivery.Subscription {
	if o.Narrow != nil {
		o.Memory, o.Visits = v.engine.ledger.Account(o.Owner), v.engine.budgets.Bucket(o.Owner)
	}
	return v.publisher.Subscribe(o)
}

// Find returns one vertex with the arcs that the subscriber may see. It returns nil if there is no such
// vertex, or the subscriber may not see it. The error is a *ClosedError, or ctx's.
func (v *View) Find(ctx context.Context, key graph.Key, access delivery.Access) (*delivery.Found, error) {
	return v.publisher.Find(ctx, key, access)
}

// setScopeLocked sets the selected resources and namespaces for the subscribers.
func (v *View) setScopeLocked() {
	selected := make([]delivery.ScopedResource, len(v.rows))
	for i, row := range v.rows {
		selected[i] = delivery.ScopedResource{
			Resource: graph.Resource{Group: row.Group, Version: row.Version, Resource: row.Resource}, Namespaced: row.Namespaced,
		}
	}
	var namespaces map[string]bool
	if v.program != nil && v.program.Namespaces != nil {
		namespaces = v.program.Namespaces.Names
	}
	v.state.SetScope(selected, namespaces, v.program != nil && v.program.Whole())
}

// WaitSynced waits until every selected resource has synced or was given up for now. It returns the
// error of ctx or of Err.
func (v *View) WaitSynced(ctx context.Context) error {
	for {
		now := v.state.Now()
		if why := now.Err(); why != nil {
			return why
		}
		if now.Phase == delivery.Serving {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-now.News:
		}
	}
}
