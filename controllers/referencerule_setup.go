package controllers

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"graphview.dev/api/v1alpha1"
)

// +kubebuilder:rbac:groups=graphview.dev,resources=referencerules,verbs=get
// +kubebuilder:rbac:groups=graphview.dev,resources=referencerules/status,verbs=patch

// SetupWithManager registers the reconciler, which runs on every replica: every engine
// needs the rules.
func (r *ReferenceRuleReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.client = mgr.GetClient()
	r.recorder = mgr.GetEventRecorder("graphview-controller")
	if err := mgr.Add(manager.RunnableFunc(r.applyAll)); err != nil {
		return fmt.Errorf("add the first look at ReferenceRules: %w", err)
	}
	if err := mgr.Add(&resync{
		client: r.client, list: &v1alpha1.ReferenceRuleList{}, notifier: r.notifier, election: r.election, changed: r.engine.ServedChanged,
	}); err != nil {
		return fmt.Errorf("add the resync of ReferenceRules: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("referencerule").
		// Our own writes of status change no generation, so they cause no reconcile.
		For(&v1alpha1.ReferenceRule{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(r.notifier).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the ReferenceRule controller: %w", err)
	}
	return nil
}

// applyAll applies all ReferenceRules to the engine once the cache has them.
func (r *ReferenceRuleReconciler) applyAll(ctx context.Context) error {
	var rules v1alpha1.ReferenceRuleList
	if err := r.client.List(ctx, &rules); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the cache stops because everything does
		}
		return fmt.Errorf("list ReferenceRules: %w", withRemedy(err))
	}
	for i := range rules.Items {
		if _, _, err := r.apply(ctx, client.ObjectKeyFromObject(&rules.Items[i])); err != nil && ctx.Err() == nil {
			return err
		}
	}
	close(r.known)
	return nil
}
