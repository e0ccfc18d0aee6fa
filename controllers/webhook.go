package controllers

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/expr"
)

// NewWebhook returns the handler of webhooks that refuse GraphViews and
// ReferenceRules that the controllers with the same options would not accept. They compile the spec as the
// controllers do, and answer with the message of the condition Accepted. If the API server does not call a
// webhook, or gets no answer, the author finds the message in that condition. The handler limits its callers,
// which need no credentials.
func NewWebhook(scheme *runtime.Scheme, o Options) (http.Handler, error) {
	mux := http.NewServeMux()
	for path, hook := range map[string]*admission.Webhook{
		"/validate-graphview-dev-v1alpha1-graphview":     admission.WithValidator(scheme, validatorOfViews(o)),
		"/validate-graphview-dev-v1alpha1-referencerule": admission.WithValidator(scheme, validatorOfRules(o)),
	} {
		handler, err := admission.StandaloneWebhook(hook, admission.StandaloneOptions{Logger: ctrl.Log.WithName("webhook"), MetricsPath: path})
		if err != nil {
			return nil, fmt.Errorf("webhook %s: %w", path, err)
		}
		mux.Handle(path, handler)
	}
	return newGate(mux), nil
}

// validator refuses objects of one kind that the controller would not accept. It decides by the spec alone:
// kubectl apply may create a GraphView before the ServiceAccount that it names, so the controller checks
// whether that exists.
type validator[T client.Object] struct {
	spec  func(T) any
	check func(context.Context, T) (admission.Warnings, error)
}

func validatorOfViews(o Options) *validator[*v1alpha1.GraphView] {
	return &validator[*v1alpha1.GraphView]{spec: func(view *v1alpha1.GraphView) any { return &view.Spec }, check: o.check}
}

func validatorOfRules(o Options) *validator[*v1alpha1.ReferenceRule] {
	return &validator[*v1alpha1.ReferenceRule]{
		spec: func(rule *v1alpha1.ReferenceRule) any { return &rule.Spec },
		check: func(ctx context.Context, rule *v1alpha1.ReferenceRule) (admission.Warnings, error) {
			// The cluster owns all ReferenceRules.
			return nil, validation.ReferenceRule(ctx, o.turn(budget.NamespaceOwner("")), rule)
		},
	}
}

// ValidateCreate refuses a spec that is not accepted.
func (w *validator[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	return w.check(ctx, object)
}

// ValidateUpdate accepts an update that does not change the spec. An object may
// have become invalid by an upgrade or a flag of the operator, and
// its labels and finalizers must still be changeable.
func (w *validator[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(w.spec(before), w.spec(after)) || after.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return w.check(ctx, after)
}

// ValidateDelete is part of the interface; the webhook is not registered for
// deletions.
func (*validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) {
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
func (o *Options) check(ctx context.Context, view *v1alpha1.GraphView) (admission.Warnings, error) {
	findings, err := validation.GraphView(ctx, view, validation.Options{
		RequireServiceAccount: o.RequireServiceAccount, Served: o.Served, Turn: o.turn(budget.NamespaceOwner(view.Namespace)),
	})
	var warnings admission.Warnings
	for _, text := range advice.Texts(findings) {
		warnings = append(warnings, validation.Cut(text, maxWarningHeader))
	}
	return warnings, err
}

// maxWarningHeader is the size up to which the API server passes on each of several warnings,
// in bytes.
const maxWarningHeader = 256
