package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// RuleEngine has the methods of a graphview.Engine that ReferenceRuleReconciler calls.
type RuleEngine interface {
	// ApplyRule adds or replaces the rule of that name. A
	// *spec.InvalidError says that there is no rule of that name until its spec is
	// corrected.
	ApplyRule(ctx context.Context, name string, rule v1alpha1.ReferenceRuleSpec) error
	// RemoveRule removes the rule of that name, if there is one.
	RemoveRule(name string)
	// RuleEffect returns the unserved kinds that the rule of that name names, and the fields by convention that
	// it replaces.
	RuleEffect(ctx context.Context, name string) graphview.RuleEffect
	// ServedChanged returns a channel that is closed when the served kinds change.
	ServedChanged() <-chan struct{}
}

// ReferenceRuleReconciler keeps one ReferenceRule, the engine's rule of that
// name, and the ReferenceRule's status in step. Make it with
// NewReferenceRuleReconciler.
type ReferenceRuleReconciler struct {
	client   client.Client
	engine   RuleEngine
	recorder events.EventRecorder
	election *Election
	notifier *Notifier
	known    chan struct{}

	// mu is locked while a ReferenceRule is read and applied, so that
	// applyAll and a reconcile cannot overtake each other.
	mu sync.Mutex
}

// NewReferenceRuleReconciler returns a reconciler that is idle before SetupWithManager and the
// manager's start. It uses Election of the options.
func NewReferenceRuleReconciler(engine RuleEngine, o Options) *ReferenceRuleReconciler {
	return &ReferenceRuleReconciler{engine: engine, election: o.Election, notifier: &Notifier{}, known: make(chan struct{})}
}

// Known returns a channel that is closed when the engine has every ReferenceRule that existed
// at the start of the reconciler.
func (r *ReferenceRuleReconciler) Known() <-chan struct{} { return r.known }

// Reconcile applies the ReferenceRule to the engine, and writes the verdict and the effect into its
// status.
func (r *ReferenceRuleReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.notifier.take(graphview.Name{Name: request.Name})
	rule, v, err := r.apply(ctx, request.NamespacedName)
	if err != nil || rule == nil {
		return ctrl.Result{}, err
	}
	again := v.retryAfter(time.Now())
	if !r.election.Elected() {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	result, err := r.writeStatus(ctx, rule, v)
	return requeueAfter(result, err, again)
}

// apply applies the present ReferenceRule of a name to the engine, and returns
// it with the verdict; nil if it does not exist.
func (r *ReferenceRuleReconciler) apply(ctx context.Context, name client.ObjectKey) (*v1alpha1.ReferenceRule, verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rule := &v1alpha1.ReferenceRule{}
	if err := r.client.Get(ctx, name, rule); err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, verdict{}, fmt.Errorf("get ReferenceRule: %w", err)
		}
		r.engine.RemoveRule(name.Name)
		return nil, verdict{}, nil
	}
	v, err := verdictOf(r.engine.ApplyRule(ctx, name.Name, rule.Spec))
	if err != nil {
		return nil, verdict{}, fmt.Errorf("apply rule: %w", err)
	}
	return rule, v, nil
}

// unreadPause is the time until the schema of a kind that could not be read is tried again.
const unreadPause = time.Minute

// writeStatus is the only place that writes to a ReferenceRule: one patch, when
// the status differs.
func (r *ReferenceRuleReconciler) writeStatus(ctx context.Context, rule *v1alpha1.ReferenceRule, v verdict) (ctrl.Result, error) {
	after := rule.DeepCopy()
	after.Status.ObservedGeneration = rule.Generation
	var effect graphview.RuleEffect
	if v.accepted() {
		effect = r.engine.RuleEffect(ctx, rule.Name)
	}
	var again ctrl.Result
	if effect.Unread != nil {
		again.RequeueAfter = unreadPause // no event says that a schema can be read
	}
	setRuleConditions(&after.Status.Conditions, rule.Generation, v, effect)
	if equality.Semantic.DeepEqual(rule.Status, after.Status) {
		return again, nil
	}
	patch := client.MergeFromWithOptions(rule, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, after, patch); err != nil {
		return unpatched(err)
	}
	recordChanges(r.recorder, rule, rule.Status.Conditions, after.Status.Conditions)
	return again, nil
}
