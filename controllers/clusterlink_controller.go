package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// +kubebuilder:rbac:groups=graphview.dev,resources=clusterlinks,verbs=get
// +kubebuilder:rbac:groups=graphview.dev,resources=clusterlinks/status,verbs=patch

// LinkState is the state of a link in the hub.
type LinkState struct {
	// NotUnique: another link has the same identity.
	NotUnique bool
	Tunnels   int
	Version   string
	// Reason is ReasonConnected, or one of the other reasons of ConditionConnected.
	Reason, Message string
}

// Hub has the methods of a hub that ClusterLinkReconciler calls. The manager's Hub is its fleetHub.
type Hub interface {
	// ApplyLink adds or changes the link of a ClusterLink. The error says why no token can
	// prove its member.
	ApplyLink(name string, spec v1alpha1.ClusterLinkSpec) error
	// RemoveLink removes the link of a deleted ClusterLink.
	RemoveLink(name string)
	// LinksKnown says that every ClusterLink has been applied. It is called once.
	LinksKnown()
	// LinkState returns the state of a link.
	LinkState(name string) LinkState
}

// ClusterLinkReconciler keeps a ClusterLink, the hub's link of that name, and the status in
// step.
type ClusterLinkReconciler struct {
	client   client.Client
	hub      Hub
	notifier *Notifier
	election *Election
}

// NewClusterLinkReconciler returns a reconciler that is idle before SetupWithManager and the
// manager's start. The hub notifies the notifier of links, which have no namespace.
func NewClusterLinkReconciler(hub Hub, notifier *Notifier, o Options) *ClusterLinkReconciler {
	return &ClusterLinkReconciler{hub: hub, notifier: notifier, election: o.Election}
}

// SetupWithManager registers the reconciler, which runs on every replica: each of them accepts
// tunnels.
func (r *ClusterLinkReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.client = mgr.GetClient()
	if err := mgr.Add(&resync{client: r.client, list: &v1alpha1.ClusterLinkList{}, notifier: r.notifier, election: r.election}); err != nil {
		return fmt.Errorf("add the resync of ClusterLinks: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(r.applyAll)); err != nil {
		return fmt.Errorf("add the first look at ClusterLinks: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("clusterlink").
		For(&v1alpha1.ClusterLink{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.ClusterLink{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(r.notifier).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the ClusterLink controller: %w", err)
	}
	return nil
}

// applyAll applies all ClusterLinks before their status is written: members that dial a hub which
// has just started do not wait for one write after the other.
func (r *ClusterLinkReconciler) applyAll(ctx context.Context) error {
	var links v1alpha1.ClusterLinkList
	if err := r.client.List(ctx, &links); err != nil {
		return nil //nolint:nilerr // the cache stops
	}
	for i := range links.Items {
		_ = r.hub.ApplyLink(links.Items[i].Name, links.Items[i].Spec) // Reconcile reports it
	}
	r.hub.LinksKnown()
	return nil
}

// all returns all ClusterLinks: the effect of a name depends on those of the others.
func (r *ClusterLinkReconciler) all(ctx context.Context, _ client.Object) []ctrl.Request {
	return requests(ctx, r.client, &v1alpha1.ClusterLinkList{})
}

// Reconcile applies the ClusterLink to the hub, and writes the state of the hub's link into its status.
func (r *ClusterLinkReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.notifier.take(graphview.Name{Name: request.Name})
	link := &v1alpha1.ClusterLink{}
	if err := r.client.Get(ctx, request.NamespacedName, link); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, fmt.Errorf("get ClusterLink: %w", err)
		}
		r.hub.RemoveLink(request.Name)
		return ctrl.Result{}, nil
	}
	refused := r.hub.ApplyLink(link.Name, link.Spec)
	if !r.election.Elected() {
		return ctrl.Result{}, nil
	}
	after := link.DeepCopy()
	state := r.hub.LinkState(link.Name)
	after.Status.ObservedGeneration = link.Generation
	after.Status.Tunnels, after.Status.Version = int32(state.Tunnels), state.Version //nolint:gosec // the hub bounds them
	var links v1alpha1.ClusterLinkList
	if len(link.Spec.KnownAs) > 0 {
		if err := r.client.List(ctx, &links); err != nil {
			return ctrl.Result{}, fmt.Errorf("list ClusterLinks: %w", err)
		}
	}
	setLinkConditions(&after.Status.Conditions, link, links.Items, refused, state)
	if equality.Semantic.DeepEqual(link.Status, after.Status) {
		return ctrl.Result{}, nil
	}
	patch := client.MergeFromWithOptions(link, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, after, patch); err != nil {
		return unpatched(err)
	}
	return ctrl.Result{}, nil
}
