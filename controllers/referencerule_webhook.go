package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
)

// ruleValidator refuses a ReferenceRule that the controller would not accept.
type ruleValidator struct{ options Options }

// ValidateCreate refuses a spec that is not accepted.
func (w *ruleValidator) ValidateCreate(ctx context.Context, rule *v1alpha1.ReferenceRule) (admission.Warnings, error) {
	return nil, validation.ReferenceRule(ctx, w.turn(), rule)
}

// ValidateUpdate accepts an update that does not change the spec.
func (w *ruleValidator) ValidateUpdate(ctx context.Context, before, after *v1alpha1.ReferenceRule) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) || after.DeletionTimestamp != nil {
		return nil, nil
	}
	return nil, validation.ReferenceRule(ctx, w.turn(), after)
}

// ValidateDelete is part of the interface; the webhook is not registered for
// deletions.
func (w *ruleValidator) ValidateDelete(context.Context, *v1alpha1.ReferenceRule) (admission.Warnings, error) {
	return nil, nil
}

// turn returns the turn of the cluster, which owns all ReferenceRules.
func (w *ruleValidator) turn() expr.Turn { return w.options.turn(budget.NamespaceOwner("")) }
