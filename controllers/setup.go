package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// The operator's rights. It lists and watches everything, since views select any resource. It
// may not get, since get on all resources includes subresources such as pods/exec and
// nodes/proxy. It also writes status and Events, its certificates, the Lease by which the writer of
// status is elected, and for each replica of a hub a Lease by which they are counted.
//
// +kubebuilder:rbac:groups=*,resources=*,verbs=list;watch
// +kubebuilder:rbac:groups=graphview.dev,resources=graphviews,verbs=get
// +kubebuilder:rbac:groups=graphview.dev,resources=graphviews/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,resourceNames=v1alpha1.stream.graphview.dev,verbs=get;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=graphview-system,resources=leases,verbs=create;delete;get;list;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=graphview,verbs=get
// +kubebuilder:rbac:groups="",namespace=graphview-system,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",namespace=graphview-system,resources=secrets,resourceNames=graphview-certificates,verbs=get;update

// serviceAccountField indexes GraphViews by the ServiceAccount that they name.
const serviceAccountField = "spec.serviceAccountName"

// concurrency is the number of reconciles at the same time: other views go on while one waits for the API server.
const concurrency = 4

// SetupWithManager registers the reconciler, which runs on every replica.
func (r *GraphViewReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	r.client, r.reader = mgr.GetClient(), mgr.GetAPIReader()
	r.recorder = mgr.GetEventRecorder("graphview-controller")
	err := untilAnswered(ctx, func(ctx context.Context) error {
		return mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.GraphView{}, serviceAccountField, serviceAccountOf)
	})
	if err != nil {
		return fmt.Errorf("index GraphViews: %w", err)
	}
	if err := mgr.Add(&resync{client: r.client, list: &v1alpha1.GraphViewList{}, notifier: r.notifier, election: r.options.Election}); err != nil {
		return fmt.Errorf("add the resync of GraphViews: %w", err)
	}
	r.applier = newApplier(ctx, applierOptions{
		engine: r.engine, read: r.read,
		applied: func(name graphview.Name, err error) { r.applied(ctx, name, err) },
	})
	if err := mgr.Add(r.applier); err != nil {
		return fmt.Errorf("add the goroutines that apply specs: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(r.listAll)); err != nil {
		return fmt.Errorf("add the initial list of GraphViews: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named("graphview").
		// Our own writes of status change no generation, so they cause no reconcile.
		For(&v1alpha1.GraphView{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(r.viewsOf),
			builder.WithPredicates(existence)).
		WatchesRawSource(r.notifier).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency, NewQueue: newQueue}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the GraphView controller: %w", err)
	}
	return nil
}

// existence passes the creation and deletion of ServiceAccounts.
var existence = predicate.Funcs{
	UpdateFunc: func(event.UpdateEvent) bool { return false },
}

func serviceAccountOf(object client.Object) []string {
	view, ok := object.(*v1alpha1.GraphView)
	if !ok || view.Spec.ServiceAccountName == "" {
		return nil
	}
	return []string{view.Spec.ServiceAccountName}
}

// viewsOf returns the GraphViews that name a ServiceAccount.
func (r *GraphViewReconciler) viewsOf(ctx context.Context, account client.Object) []ctrl.Request {
	return requests(ctx, r.client, &v1alpha1.GraphViewList{},
		client.InNamespace(account.GetNamespace()), client.MatchingFields{serviceAccountField: account.GetName()})
}
