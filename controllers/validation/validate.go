package validation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/expr"
	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/spec"
)

// Options are options of the operator that serves a GraphView. With the zero value
// authors need no ServiceAccount.
type Options struct {
	// RequireServiceAccount refuses GraphViews that name no ServiceAccount.
	RequireServiceAccount bool
	// Turn is the turn of compilations.
	Turn expr.Turn
	// Served returns the resources that the cluster serves, nil while they are not known. With a nil function
	// they are never known.
	Served func() *resources.Catalog
	// Account returns a *spec.InvalidError if the named ServiceAccount does not exist. Nil: it
	// is not looked up.
	Account func(context.Context, *v1alpha1.GraphView) error
	// Objects returns findings that need the objects of the cluster. Nil: there are none.
	Objects func(context.Context, *spec.Program) []advice.Finding
}

// GraphView returns the verdict of the webhook of an operator with these options: nil, or a
// Status with a cause for each field. If Served knows the resources, it also
// returns the parts of a valid spec that have no effect.
func GraphView(ctx context.Context, view *v1alpha1.GraphView, o Options) ([]advice.Finding, error) {
	account := ServiceAccount(view, o.RequireServiceAccount)
	if account == nil && o.Account != nil {
		account = o.Account(ctx, view)
	}
	program, err := spec.Compile(ctx, o.Turn, view.Spec)
	if err != nil {
		return nil, refusal("GraphView", view.Name, both(account, err))
	}
	return o.findings(ctx, program), refusal("GraphView", view.Name, account)
}

// both joins two errors; the first may be nil.
func both(first, second error) error {
	a, isFirst := errors.AsType[*spec.InvalidError](first)
	b, isSecond := errors.AsType[*spec.InvalidError](second)
	switch {
	case !isFirst:
		return second
	case !isSecond:
		return first
	}
	return &spec.InvalidError{Reason: a.Reason, Errors: slices.Concat(a.Errors, b.Errors)}
}

// ReferenceRule is GraphView for a ReferenceRule.
func ReferenceRule(ctx context.Context, turn expr.Turn, rule *v1alpha1.ReferenceRule) error {
	_, err := spec.CompileRule(ctx, turn, rule.Spec)
	return refusal("ReferenceRule", rule.Name, err)
}

// ServiceAccount returns a *spec.InvalidError if a GraphView names no ServiceAccount and one is
// required.
func ServiceAccount(view *v1alpha1.GraphView, required bool) error {
	if !required || view.Spec.ServiceAccountName != "" {
		return nil
	}
	// A manifest that is checked offline may leave its namespace to kubectl.
	namespace := cmp.Or(view.Namespace, "NAMESPACE")
	return &spec.InvalidError{Reason: v1alpha1.ReasonServiceAccountRequired, Errors: []error{fmt.Errorf(
		"spec.serviceAccountName: this installation requires it. The graph contains what that ServiceAccount of the GraphView's namespace may list and watch. "+
			"To make one: `kubectl -n %[1]s create serviceaccount viewer` and `kubectl -n %[1]s create rolebinding viewer --clusterrole=view --serviceaccount=%[1]s:viewer`; then set serviceAccountName: viewer",
		namespace)}}
}

// findings returns the parts of a spec that have no effect.
func (o *Options) findings(ctx context.Context, p *spec.Program) (found []advice.Finding) {
	if o.Served != nil {
		if catalog := o.Served(); catalog != nil {
			a := graphview.Advise(ctx, p, catalog)
			found = slices.Concat(a.Findings, a.Roots)
		}
	}
	if o.Objects != nil {
		found = append(found, o.Objects(ctx, p)...)
	}
	return found
}

// refusal returns a Status like that of the API server's own validation: 422, with a cause
// for each field, so that kubectl prints both alike. The message is that of the
// condition Accepted. Each text begins with the path of its field. An error that is
// not about the spec is returned as it is.
func refusal(kind, name string, err error) error {
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*spec.InvalidError](err)
	if !ok {
		return err
	}
	var causes []metav1.StatusCause
	for _, text := range invalid.Texts() {
		field, message, _ := strings.Cut(text, ": ")
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message})
	}
	status := apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), name, nil)
	status.ErrStatus.Message = Cut(invalid.Error(), v1alpha1.MaxConditionMessage)
	status.ErrStatus.Details.Causes = causes
	return status
}
