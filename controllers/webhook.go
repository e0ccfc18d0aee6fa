package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
)

// SetupWebhook registers webhooks at the manager's server that refuse GraphViews and
// ReferenceRules that the controllers with the same options would not accept. They compile the spec as the
// controllers do, and answer with the message of the condition Accepted. If the API server does not call a
// webhook, or gets no answer, the author finds the message in that condition.
func SetupWebhook(mgr ctrl.Manager, o Options) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &v1alpha1.GraphView{}).WithValidator(&validator{o}).Complete(); err != nil {
		return fmt.Errorf("set up the GraphView webhook: %w", err)
	}
	if err := ctrl.NewWebhookManagedBy(mgr, &v1alpha1.ReferenceRule{}).WithValidator(&ruleValidator{o}).Complete(); err != nil {
		return fmt.Errorf("set up the ReferenceRule webhook: %w", err)
	}
	return nil
}

// validator decides by the spec alone. kubectl apply may create a GraphView before the
// ServiceAccount that it names, so the controller checks whether that exists.
type validator struct{ options Options }

// ValidateCreate refuses a spec that is not accepted.
func (w *validator) ValidateCreate(ctx context.Context, view *v1alpha1.GraphView) (admission.Warnings, error) {
	return w.check(ctx, view)
}

// ValidateUpdate accepts an update that does not change the spec. A GraphView may
// have become invalid by an upgrade or a flag of the operator, and
// its labels and finalizers must still be changeable.
func (w *validator) ValidateUpdate(ctx context.Context, before, after *v1alpha1.GraphView) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) || after.DeletionTimestamp != nil {
		return nil, nil
	}
	return w.check(ctx, after)
}

// ValidateDelete is part of the interface; the webhook is not registered for
// deletions.
func (w *validator) ValidateDelete(context.Context, *v1alpha1.GraphView) (admission.Warnings, error) {
	return nil, nil
}

// turn returns the turn in which expressions of an owner are compiled.
func (o *Options) turn(owner budget.Owner) expr.Turn {
	if o.Turn == nil {
		return nil
	}
	return o.Turn(owner)
}

// check refuses a spec, or warns of the parts of it that have no effect.
func (w *validator) check(ctx context.Context, view *v1alpha1.GraphView) (admission.Warnings, error) {
	findings, err := validation.GraphView(ctx, view, validation.Options{
		RequireServiceAccount: w.options.RequireServiceAccount, Served: w.options.Served, Turn: w.options.turn(budget.NamespaceOwner(view.Namespace)),
	})
	var warnings admission.Warnings
	for _, text := range advice.Texts(findings) {
		warnings = append(warnings, cutBytes(text, maxWarningHeader))
	}
	return warnings, err
}

// maxWarningHeader is the size up to which the API server passes on each of several warnings,
// in bytes.
const maxWarningHeader = 256
