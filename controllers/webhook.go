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

// SetupWebhook has the manager's webhook server refuse GraphViews and
// ReferenceRules that the controllers with the same options would not accept. It compiles what the
// controller compiles and says what its condition would say; where it is not
// asked, or does not answer, that condition is what an author gets.
func SetupWebhook(mgr ctrl.Manager, o Options) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &v1alpha1.GraphView{}).WithValidator(&validator{o}).Complete(); err != nil {
		return fmt.Errorf("set up the GraphView webhook: %w", err)
	}
	if err := ctrl.NewWebhookManagedBy(mgr, &v1alpha1.ReferenceRule{}).WithValidator(&ruleValidator{o}).Complete(); err != nil {
		return fmt.Errorf("set up the ReferenceRule webhook: %w", err)
	}
	return nil
}

// validator decides by the spec alone: two GraphViews of one kubectl apply may
// come in any order with the ServiceAccount that they name, so whether it exists
// is left to the controller.
type validator struct{ options Options }

// ValidateCreate refuses a spec that is not accepted.
func (w *validator) ValidateCreate(ctx context.Context, view *v1alpha1.GraphView) (admission.Warnings, error) {
	return w.judge(ctx, view)
}

// ValidateUpdate lets through whatever leaves the spec alone. A GraphView may
// have become invalid where it is, by an upgrade or a flag of the operator, and
// its labels and finalizers are not to blame.
func (w *validator) ValidateUpdate(ctx context.Context, before, after *v1alpha1.GraphView) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) || after.DeletionTimestamp != nil {
		return nil, nil
	}
	return w.judge(ctx, after)
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

// judge refuses a spec, or warns of what has no effect in it.
func (w *validator) judge(ctx context.Context, view *v1alpha1.GraphView) (admission.Warnings, error) {
	findings, err := validation.GraphView(ctx, view, validation.Options{
		RequireServiceAccount: w.options.RequireServiceAccount, Served: w.options.Served, Turn: w.options.turn(budget.NamespaceOwner(view.Namespace)),
	})
	var warnings admission.Warnings
	for _, text := range advice.Texts(findings) {
		warnings = append(warnings, cutBytes(text, maxWarningHeader))
	}
	return warnings, err
}

// maxWarningHeader is how much of a warning the API server passes on where there are
// several, in bytes.
const maxWarningHeader = 256
