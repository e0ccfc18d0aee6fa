package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview"
	"graphview.dev/graphview/panics"
	"graphview.dev/graphview/spec"
)

// verdict is the reason and the message of the condition Accepted, by which a spec is accepted or refused.
type verdict struct {
	reason, message string
	// until is the time at which a refused spec has to be applied again. It is zero for most.
	until time.Time
}

var accepted = verdict{reason: v1alpha1.ReasonAccepted, message: "The spec compiles."}

// expired reports whether the spec has to be applied again.
func (v verdict) expired(now time.Time) bool { return !v.until.IsZero() && !now.Before(v.until) }

// retryAfter is the time after which the spec has to be applied again, 0 for never.
func (v verdict) retryAfter(now time.Time) time.Duration {
	if v.until.IsZero() {
		return 0
	}
	return max(v.until.Sub(now), time.Millisecond)
}

func (v verdict) accepted() bool { return v.reason == v1alpha1.ReasonAccepted }

// apply applies the spec to the engine, unless the engine has it, and keeps the verdict in the
// record. Until the verdict is known it returns false; the view is reconciled again afterwards.
func (r *GraphViewReconciler) apply(ctx context.Context, name graphview.Name, view *v1alpha1.GraphView, record *record) (known bool, err error) {
	refused, err := r.checkServiceAccount(ctx, view)
	if err != nil {
		return false, err
	}
	if !refused.accepted() {
		// A spec that was accepted before is not served either: it may show more objects
		// than the author may see now, or wants to show.
		r.applier.stop(name)
		r.engine.Refuse(name, string(view.UID), &spec.InvalidError{Reason: refused.reason, Errors: []error{errors.New(refused.message)}})
		record.applied, record.verdict = 0, refused
		return true, nil
	}
	if record.applied == view.Generation && !record.verdict.expired(r.options.Clock.Now()) {
		return true, nil
	}
	record.applied = 0 // until the engine has answered
	v := version{string(view.UID), view.Generation}
	known, err = r.applier.apply(name, v)
	if !known {
		return false, nil
	}
	answer, err := verdictOf(err)
	if err != nil {
		return false, fmt.Errorf("apply spec: %w", err)
	}
	record.verdict = answer
	record.applied = view.Generation
	return true, nil
}

// read returns the present GraphView of a view.
func (r *GraphViewReconciler) read(ctx context.Context, name graphview.Name) (*v1alpha1.GraphView, error) {
	cached, err := r.getCached(ctx, client.ObjectKey{Namespace: name.Namespace, Name: name.Name})
	if err != nil {
		return nil, err
	}
	return r.whole(ctx, cached)
}

// applied requests a reconcile of a view after its spec was applied. The engine then knows the view, perhaps
// with an older spec: an author who edits the spec all the time does not keep the operator from being ready.
func (r *GraphViewReconciler) applied(ctx context.Context, name graphview.Name, err error) {
	if _, err := verdictOf(err); err != nil {
		if fault, ok := errors.AsType[*panics.Error](err); ok {
			ctrl.LoggerFrom(ctx).Error(err, "A GraphView is not applied", "view", name.String(), "stack", fault.Stack)
		}
		r.notifier.Notify(name) // not at once
		return
	}
	r.initial.applied(name)
	r.notifier.NotifyNow(name)
}

// verdictOf returns the verdict in a compiler's error. It returns any other error, which is not about
// the spec.
func verdictOf(err error) (verdict, error) {
	var invalid *spec.InvalidError
	switch {
	case err == nil:
		return accepted, nil
	case errors.As(err, &invalid):
		return verdict{reason: invalid.Reason, message: invalid.Error(), until: invalid.Until}, nil
	default:
		return verdict{}, err
	}
}

// checkServiceAccount checks, beyond the compiler, whether the GraphView names a ServiceAccount
// if it must, and whether it exists.
func (r *GraphViewReconciler) checkServiceAccount(ctx context.Context, view *v1alpha1.GraphView) (verdict, error) {
	name := view.Spec.ServiceAccountName
	if name == "" {
		return verdictOf(validation.ServiceAccount(view, r.options.RequireServiceAccount))
	}
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	err := r.client.Get(ctx, client.ObjectKey{Namespace: view.Namespace, Name: name}, account)
	switch {
	case apierrors.IsNotFound(err):
		return verdict{reason: v1alpha1.ReasonServiceAccountNotFound, message: fmt.Sprintf(
			"spec.serviceAccountName: there is no ServiceAccount %q in namespace %q; the view is accepted when it is created", name, view.Namespace)}, nil
	case err != nil:
		return verdict{}, fmt.Errorf("get ServiceAccount: %w", err)
	}
	return accepted, nil
}
