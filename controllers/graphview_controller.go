package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

const defaultStatusInterval = 5 * time.Second

// Options of a GraphViewReconciler; the zero value is that of a single replica
// whose tenants need no ServiceAccount.
type Options struct {
	// RequireServiceAccount accepts only GraphViews with a serviceAccountName.
	RequireServiceAccount bool
	// Served is what the cluster serves, nil where that is not known yet. The webhook
	// warns by it of what has no effect; without it, of nothing.
	Served func() *resources.Catalog
	// Permit says what a ServiceAccount may list and watch, as the engine's option does.
	// Without it, nothing is said of namespaces that GraphViews with one name.
	Permit func(ctx context.Context, account graphview.Name, places []access.Place) (map[access.Place]bool, error)
	// Placement is that of the replicas that share views. Nil: each holds all, and the
	// one that is elected writes status.
	Placement Placement
	// RulesKnown is closed when the engine knows all ReferenceRules; nil if nobody
	// waits for that.
	RulesKnown <-chan struct{}
	// Elected is closed when this replica becomes the one that writes status.
	// Nil: when its manager is elected, at once without leader election.
	Elected <-chan struct{}
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
	notifier *Notifier
	recorder events.EventRecorder
	options  Options
	memory   memory
	roll     *roll
	quota    *quota
	// namespaces are all that exist, for the views that name many.
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
	return &GraphViewReconciler{engine: engine, notifier: notifier, options: o, roll: newRoll(), quota: newQuota(boundGraphViews.Limit())}
}

// Reconcile makes the engine's view what the GraphView says and the GraphView's
// status what the engine says. A GraphView needs no finalizer: nothing of a view
// outlives this process but its status, which goes with the GraphView.
func (r *GraphViewReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	name := graphview.Name{Namespace: request.Namespace, Name: request.Name}
	r.notifier.take(name)
	view := &v1alpha1.GraphView{}
	if err := r.client.Get(ctx, request.NamespacedName, view); err != nil {
		if apierrors.IsNotFound(err) {
			r.engine.Remove(name)
			r.memory.forget(name)
			r.notify(r.quota.leave(name))
			r.roll.answer(name)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("get GraphView: %w", err)
	}
	record := r.memory.of(name, view.UID)
	if record.met.IsZero() {
		record.met = r.options.Clock.Now()
	}
	if err := r.apply(ctx, name, view, record); err != nil {
		return ctrl.Result{}, err
	}
	r.roll.answer(name)

	var held graphview.Status
	if record.verdict.accepted() {
		held, _ = r.engine.Status(name)
	}
	switch {
	case held.LimitExceeded != "":
		record.ready = 0
	case held.Synced:
		record.ready = view.Generation
	}
	if !r.writes(name, record) {
		return ctrl.Result{}, nil
	}
	again := time.Duration(0)
	if held.Served {
		var absent []advice.Finding
		absent, again = r.adviseNamespaces(ctx, view, record)
		held.Advice = slices.Concat(held.Advice, absent)
	}
	result, err := r.writeStatus(ctx, view, record, &held)
	return lookAgain(result, err, again)
}

// lookAgain has a view reconciled after again, 0 for never, unless the write of its
// status wants that earlier. After an error or a conflict the queue says when.
func lookAgain(result ctrl.Result, err error, again time.Duration) (ctrl.Result, error) {
	if err != nil || result.Requeue { //nolint:staticcheck // see unpatched
		return result, err
	}
	if result.RequeueAfter == 0 || again > 0 && again < result.RequeueAfter {
		result.RequeueAfter = again
	}
	return result, nil
}

// apply tells the engine of the spec, unless it was told before, and keeps the
// verdict in the record.
func (r *GraphViewReconciler) apply(ctx context.Context, name graphview.Name, view *v1alpha1.GraphView, record *record) error {
	if r.options.Placement != nil {
		r.options.Placement.Place(name, view.Labels[PlacementLabel])
	}
	refused, err := r.checkQuota(ctx, view, record)
	if err != nil {
		return err
	}
	if refused.accepted() {
		if refused, err = r.checkServiceAccount(ctx, view); err != nil {
			return err
		}
	}
	declared, err := validation.SpecOf(&view.Spec)
	if refused.accepted() && err != nil {
		if refused, _, err = verdictOf(err); err != nil {
			return fmt.Errorf("read spec: %w", err)
		}
	}
	if !refused.accepted() {
		// Never served by a spec that was accepted before: it may show more
		// than the author is now entitled to, or wants to.
		r.engine.Refuse(name, string(view.UID), &spec.InvalidError{Reason: refused.reason, Errors: []error{errors.New(refused.message)}})
		record.applied, record.verdict = 0, refused
		return nil
	}
	// Where replicas share views, it is looked at again who holds this one.
	if record.applied == view.Generation && r.options.Placement == nil {
		return nil
	}
	v, _, err := verdictOf(r.engine.Apply(ctx, name, string(view.UID), declared))
	if err != nil {
		return fmt.Errorf("apply spec: %w", err)
	}
	record.applied, record.verdict = view.Generation, v
	return nil
}

// verdictOf is what a compiler's error says about a spec; another error is none
// of the spec's.
func verdictOf(err error) (verdict, *spec.InvalidError, error) {
	var invalid *spec.InvalidError
	switch {
	case err == nil:
		return accepted, nil, nil
	case errors.As(err, &invalid):
		return verdict{reason: invalid.Reason, message: invalid.Error()}, invalid, nil
	default:
		return verdict{}, nil, err
	}
}

// checkServiceAccount decides what the compiler cannot: whether the GraphView
// names a ServiceAccount where it has to, and one that exists.
func (r *GraphViewReconciler) checkServiceAccount(ctx context.Context, view *v1alpha1.GraphView) (verdict, error) {
	name := view.Spec.ServiceAccountName
	if name == "" {
		v, _, err := verdictOf(validation.ServiceAccount(view, r.options.RequireServiceAccount))
		return v, err
	}
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	err := r.client.Get(ctx, client.ObjectKey{Namespace: view.Namespace, Name: name}, account)
	switch {
	case apierrors.IsNotFound(err):
		return verdict{v1alpha1.ReasonServiceAccountNotFound,
			fmt.Sprintf("spec.serviceAccountName: there is no ServiceAccount %q in namespace %q; the view is accepted when it is created", name, view.Namespace)}, nil
	case err != nil:
		return verdict{}, fmt.Errorf("get ServiceAccount: %w", err)
	}
	return accepted, nil
}

// checkQuota decides whether a GraphView is among those of its namespace that are
// served.
func (r *GraphViewReconciler) checkQuota(ctx context.Context, view *v1alpha1.GraphView, record *record) (verdict, error) {
	served, moved, err := r.quota.enter(view, func() ([]v1alpha1.GraphView, error) {
		var all v1alpha1.GraphViewList
		if err := r.client.List(ctx, &all, client.InNamespace(view.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list GraphViews: %w", err)
		}
		return all.Items, nil
	})
	if err != nil {
		return verdict{}, err
	}
	r.notify(moved)
	switch {
	case served:
		return accepted, nil
	case record.verdict.reason == v1alpha1.ReasonLimitExceeded:
		return record.verdict, nil // it is counted already
	}
	return verdict{v1alpha1.ReasonLimitExceeded, "metadata.namespace: " + boundGraphViews.Exceed().Error()}, nil
}

// notify has GraphViews reconciled.
func (r *GraphViewReconciler) notify(names []graphview.Name) {
	for _, name := range names {
		r.notifier.Notify(name)
	}
}

func (r *GraphViewReconciler) elected() bool {
	select {
	case <-r.options.Elected:
		return true
	default:
		return false
	}
}
