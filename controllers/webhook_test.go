package controllers

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/resources"
)

func includes(expressions ...string) v1alpha1.GraphViewSpec {
	var spec v1alpha1.GraphViewSpec
	for _, e := range expressions {
		spec.Queries = append(spec.Queries, v1alpha1.Query{Include: &v1alpha1.Include{ResourceSelectorExpression: e}})
	}
	return spec
}

func TestWebhook(t *testing.T) {
	const (
		arcsPath = "spec.roots.ignoreArcDirection[0]"
		arcsWhy  = `unknown reference type "x", expected or, r or t; change the spec, or upgrade the operator`

		good = "resource == 'pods'"
		bad  = "grup == 'apps'"
		path = "spec.queries[0].include.resourceSelectorExpression"
		why  = `line 1, column 1: unknown name or function 'grup'; the variables are group, version, resource, kind and namespaced: "grup == 'apps'"`
	)
	valid, invalid := includes(good), includes(bad)
	twice := includes(bad, good, bad)
	named := includes(good)
	named.ServiceAccountName = "viewer"
	arcs := includes(good)
	arcs.Roots = &v1alpha1.Roots{ObjectSelectorExpressions: []v1alpha1.Expression{"true"}, IgnoreArcDirection: []v1alpha1.ArcType{"x"}}
	cause := func(field, message string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message}
	}
	required := "this installation requires it. The graph contains what that ServiceAccount of the GraphView's namespace may list and watch. " +
		"To make one: `kubectl -n shop create serviceaccount viewer` and `kubectl -n shop create rolebinding viewer --clusterrole=view --serviceaccount=shop:viewer`; then set serviceAccountName: viewer"
	tests := map[string]struct {
		options     Options
		before      *v1alpha1.GraphViewSpec
		after       v1alpha1.GraphViewSpec
		deleted     bool
		wantMessage string
		wantCauses  []metav1.StatusCause
	}{
		"good":           {after: valid},
		"bad":            {after: invalid, wantMessage: path + ": " + why, wantCauses: []metav1.StatusCause{cause(path, why)}},
		"good to bad":    {before: &valid, after: invalid, wantMessage: path + ": " + why, wantCauses: []metav1.StatusCause{cause(path, why)}},
		"bad to good":    {before: &invalid, after: valid},
		"bad as before":  {before: &invalid, after: invalid},
		"bad, but going": {before: &valid, after: invalid, deleted: true},
		"every error": {
			after:       twice,
			wantMessage: path + ": " + why + "; spec.queries[2].include.resourceSelectorExpression: " + why,
			wantCauses:  []metav1.StatusCause{cause(path, why), cause("spec.queries[2].include.resourceSelectorExpression", why)},
		},
		"account required": {
			options: Options{RequireServiceAccount: true}, after: valid,
			wantMessage: "spec.serviceAccountName: " + required, wantCauses: []metav1.StatusCause{cause("spec.serviceAccountName", required)},
		},
		"account required, and there":   {options: Options{RequireServiceAccount: true}, after: named},
		"account required, but not yet": {options: Options{RequireServiceAccount: true}, before: &valid, after: valid},
		"what the CRD refuses": {
			after: arcs, wantMessage: arcsPath + ": " + arcsWhy, wantCauses: []metav1.StatusCause{cause(arcsPath, arcsWhy)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := validatorOfViews(tt.options)
			after := &v1alpha1.GraphView{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: tt.after}
			if tt.deleted {
				after.DeletionTimestamp = &metav1.Time{Time: epoch}
			}
			var err error
			if tt.before == nil {
				_, err = w.ValidateCreate(t.Context(), after)
			} else {
				_, err = w.ValidateUpdate(t.Context(), &v1alpha1.GraphView{Spec: *tt.before}, after)
			}
			if tt.wantMessage == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || err.Error() != tt.wantMessage {
				t.Fatalf("error %v\nwant %s", err, tt.wantMessage)
			}
			var status *apierrors.StatusError
			if !errors.As(err, &status) {
				t.Fatal("not a Status")
			}
			want := metav1.Status{
				Status: "Failure", Code: 422, Reason: metav1.StatusReasonInvalid, Message: tt.wantMessage,
				Details: &metav1.StatusDetails{Group: "graphview.dev", Kind: "GraphView", Name: "web", Causes: tt.wantCauses},
			}
			if diff := cmp.Diff(want, status.ErrStatus); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := validatorOfViews(Options{}).ValidateDelete(t.Context(), &v1alpha1.GraphView{Spec: invalid}); err != nil {
		t.Error(err)
	}
}

// TestWebhookWarns of what has no effect, and lets it pass.
func TestWebhookWarns(t *testing.T) {
	catalog := resources.NewCatalog([]resources.Resource{{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}, nil)
	typo := includes("resource == 'pod'")
	tests := map[string]struct {
		served func() *resources.Catalog
		want   admission.Warnings
	}{
		"nothing is known": {},
		"not known yet":    {served: func() *resources.Catalog { return nil }},
		"a typo": {served: func() *resources.Catalog { return catalog }, want: admission.Warnings{
			"spec.queries[0].include.resourceSelectorExpression: it matches nothing: the cluster serves no resource 'pod'; did you mean 'pods'?",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := validatorOfViews(Options{Served: tt.served})
			got, err := w.ValidateCreate(t.Context(), &v1alpha1.GraphView{Spec: typo})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v, warnings (-want +got):\n%s", err, diff)
			}
		})
	}
}
