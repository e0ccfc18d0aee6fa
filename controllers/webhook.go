package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/spec"
)

// SetupWebhook has the manager's webhook server refuse GraphViews and
// ReferenceRules that the controllers with the same options would not accept. It compiles what the
// controller compiles and says what its condition would say; where it is not
// asked, or does not answer, that condition is what an author gets.
func SetupWebhook(mgr ctrl.Manager, o Options) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &v1alpha1.GraphView{}).WithValidator(&validator{o}).Complete(); err != nil {
		return fmt.Errorf("set up the GraphView webhook: %w", err)
	}
	if err := ctrl.NewWebhookManagedBy(mgr, &v1alpha1.ReferenceRule{}).WithValidator(ruleValidator{}).Complete(); err != nil {
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

// judge refuses a spec, or warns of what has no effect in it.
func (w *validator) judge(ctx context.Context, view *v1alpha1.GraphView) (admission.Warnings, error) {
	findings, err := w.validate(ctx, view)
	var warnings admission.Warnings
	for _, text := range textsOf(findings) {
		warnings = append(warnings, cutBytes(text, maxWarningHeader))
	}
	return warnings, err
}

// maxWarningHeader is how much of a warning the API server passes on where there are
// several, in bytes.
const maxWarningHeader = 256

// validate compiles a spec and, where what the cluster serves is known, finds what has
// no effect in it.
func (w *validator) validate(ctx context.Context, view *v1alpha1.GraphView) ([]advice.Finding, error) {
	if v := w.options.checkNamed(view); !v.accepted() {
		return nil, refusal("GraphView", view.Name, v, []string{v.message})
	}
	var program *spec.Program
	declared, err := specOf(&view.Spec)
	if err == nil {
		program, err = spec.Compile(ctx, declared)
	}
	v, invalid, err := verdictOf(err)
	switch {
	case err != nil:
		return nil, err
	case v.accepted():
		return w.options.findings(ctx, program), nil
	}
	return nil, refusal("GraphView", view.Name, v, invalid.Texts())
}

// findings are what has no effect in a spec, as far as that can be told without
// objects.
func (o *Options) findings(ctx context.Context, p *spec.Program) []advice.Finding {
	if o.Served == nil {
		return nil
	}
	catalog := o.Served()
	if catalog == nil {
		return nil
	}
	a := graphview.Advise(ctx, p, catalog)
	return slices.Concat(a.Findings, a.Roots)
}

// refusal is the answer of the API server's own validation: 422, with a cause
// for each field, so that kubectl prints both alike. The message is that of the
// condition Accepted. Each text begins with the path of its field.
func refusal(kind, name string, v verdict, texts []string) error {
	causes := make([]metav1.StatusCause, 0, len(texts))
	for _, text := range texts {
		field, message, _ := strings.Cut(text, ": ")
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message})
	}
	status := apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), name, nil)
	status.ErrStatus.Message = cutRunes(v.message, v1alpha1.MaxConditionMessage)
	status.ErrStatus.Details.Causes = causes
	return status
}
