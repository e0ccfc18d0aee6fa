package controllers

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"graphview.dev/api/v1alpha1"
)

// +kubebuilder:rbac:groups=graphview.dev,resources=referencerules,verbs=get
// +kubebuilder:rbac:groups=graphview.dev,resources=referencerules/status,verbs=patch

// SetupWithManager registers the reconciler, which runs on every replica: every engine
// needs the rules.
func (r *ReferenceRuleReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.client = mgr.GetClient()
	r.recorder = mgr.GetEventRecorder("graphview-controller")
	again := make(chan event.GenericEvent)
	if err := mgr.Add(&ruleResync{r, again}); err != nil {
		return fmt.Errorf("add the resync of rules: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("referencerule").
		// Our own writes of status change no generation, so they cause no reconcile.
		For(&v1alpha1.ReferenceRule{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Channel(again, &handler.EnqueueRequestForObject{})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the ReferenceRule controller: %w", err)
	}
	return nil
}

// ruleResync applies all ReferenceRules to the engine once the cache has them. It reconciles
// each again when this replica is elected to write status, and when the served kinds change.
type ruleResync struct {
	r     *ReferenceRuleReconciler
	again chan<- event.GenericEvent
}

// rulePause is the least time between two resyncs: an installation adds many kinds at once.
const rulePause = 2 * time.Second

// Start runs until ctx is done.
func (c *ruleResync) Start(ctx context.Context) error {
	rules, err := c.list(ctx)
	if err != nil {
		return err
	}
	for i := range rules {
		if _, _, err := c.r.apply(ctx, client.ObjectKeyFromObject(&rules[i])); err != nil && ctx.Err() == nil {
			return err
		}
	}
	close(c.r.known)
	for {
		elected := c.r.election.Changed()
		changed := c.r.engine.ServedChanged() // before the served kinds are read
		if rules, err = c.list(ctx); err != nil {
			return err
		}
		for i := range rules {
			select {
			case <-ctx.Done():
				return nil
			case c.again <- event.GenericEvent{Object: &rules[i]}:
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-elected:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(rulePause):
		}
	}
}

func (c *ruleResync) list(ctx context.Context) ([]v1alpha1.ReferenceRule, error) {
	var rules v1alpha1.ReferenceRuleList
	if err := c.r.client.List(ctx, &rules); err != nil {
		if ctx.Err() != nil {
			return nil, nil //nolint:nilerr // the cache stops because everything does
		}
		return nil, fmt.Errorf("list ReferenceRules: %w", withRemedy(err))
	}
	return rules.Items, nil
}
