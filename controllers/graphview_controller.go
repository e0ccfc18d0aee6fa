package controllers

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/resources"
)

const defaultStatusInterval = 5 * time.Second

// Options of the reconcilers and the webhook; the zero value is for a single replica
// whose tenants need no ServiceAccount.
type Options struct {
	// RequireServiceAccount accepts only GraphViews with a serviceAccountName.
	RequireServiceAccount bool
	// Served returns the resources that the cluster serves, nil while they are not known. The webhook
	// compares a spec with them, to warn of parts without effect. Without the function it does not warn.
	Served func() *resources.Catalog
	// MayListNamespaces returns whether a ServiceAccount may list namespaces, and whether that is known.
	// Without it, GraphViews with a ServiceAccount get no advice about namespaces.
	MayListNamespaces func(account graphview.Name) (may, known bool)
	// Turn returns the turn in which the webhook compiles expressions of an owner. Without it the webhook
	// compiles at once.
	Turn func(budget.Owner) expr.Turn
	// Election elects the replica that writes status. Nil: there is one replica.
	Election *Election
	// RulesKnown is closed when the engine knows all ReferenceRules. Nil: the reconciler does
	// not wait.
	RulesKnown <-chan struct{}
	// StatusInterval is the least time between two writes of a view's counts.
	// 0: 5 seconds.
	StatusInterval time.Duration
	// Clock is for tests. Nil: the real one.
	Clock clock.PassiveClock
}

// GraphViewReconciler keeps one GraphView, the engine's view of that name, and
// the GraphView's status in step. Make it with NewGraphViewReconciler.
type GraphViewReconciler struct {
	client   client.Client
	reader   client.Reader // without a cache
	engine   Engine
	applier  *applier
	notifier *Notifier
	recorder events.EventRecorder
	options  Options
	memory   memory
	initial  *initialSync
	// namespaces lists all namespaces, for the views that name many.
	namespaces namespaceList
}

// NewGraphViewReconciler returns a reconciler for the engine that calls
// notifier. It does nothing before SetupWithManager and the manager's start.
func NewGraphViewReconciler(engine Engine, notifier *Notifier, o Options) *GraphViewReconciler {
	if o.StatusInterval <= 0 {
		o.StatusInterval = defaultStatusInterval
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &GraphViewReconciler{engine: engine, notifier: notifier, options: o, initial: newInitialSync()}
}

// Reconcile applies the GraphView's spec to the engine, and writes the engine's Status into the GraphView's
// status. A GraphView needs no finalizer: a view has nothing outside of this
// process but its status, which is deleted with the GraphView.
func (r *GraphViewReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	name := graphview.Name{Namespace: request.Namespace, Name: request.Name}
	r.notifier.take(name)
	view, err := r.getCached(ctx, request.NamespacedName)
	if apierrors.IsNotFound(err) {
		r.applier.stop(name)
		r.engine.Remove(name)
		r.memory.forget(name)
		r.initial.applied(name)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	record, replaced := r.memory.of(name, view.UID)
	if replaced {
		// The GraphView was deleted and created again between two reconciles.
		r.applier.stop(name)
		r.engine.Remove(name)
	}
	if record.met.IsZero() {
		record.met = r.options.Clock.Now()
	}
	if known, err := r.apply(ctx, name, view, record); !known || err != nil {
		return ctrl.Result{}, err
	}
	r.initial.applied(name)

	var st graphview.Status
	if record.verdict.accepted() {
		st, _ = r.engine.Status(name)
	}
	if st.Unapplied {
		record.applied = 0
		_, err := r.apply(ctx, name, view, record)
		return ctrl.Result{}, err
	}
	switch {
	case st.LimitExceeded != "":
		record.ready = 0
	case st.Synced:
		record.ready = view.Generation
	}
	again := record.verdict.retryAfter(r.options.Clock.Now())
	if !r.writes(record) {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	if st.Served {
		var absent []advice.Finding
		absent, again = r.adviseNamespaces(ctx, view, record)
		st.Advice = slices.Concat(st.Advice, absent)
	}
	result, err := r.writeStatus(ctx, view, record, &st)
	return requeueAfter(result, err, again)
}

// requeueAfter requests a reconcile after again, 0 for never, unless the result of the status's write
// requests an earlier one. After an error or a conflict the queue decides when.
func requeueAfter(result ctrl.Result, err error, again time.Duration) (ctrl.Result, error) {
	if err != nil || result.Requeue { //nolint:staticcheck // see unpatched
		return result, err
	}
	if result.RequeueAfter == 0 || again > 0 && again < result.RequeueAfter {
		result.RequeueAfter = again
	}
	return result, nil
}

// writes reports whether this replica writes the status of a view. A replica that begins
// to write has not seen the view become ready, as after a restart.
func (r *GraphViewReconciler) writes(record *record) bool {
	writes := r.options.Election.Elected()
	if writes && !record.writing {
		record.written, record.met = nil, r.options.Clock.Now()
	}
	record.writing = writes
	return writes
}
