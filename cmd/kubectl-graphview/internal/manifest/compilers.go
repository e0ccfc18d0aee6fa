package manifest

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/advice"
	"graphview.dev/graphview/resources"
)

// compiler returns the findings and the error of the webhook for an object of the right form.
type compiler func(context.Context, *unstructured.Unstructured) ([]advice.Finding, error)

func compilers(o Options) map[schema.GroupVersionKind]compiler {
	return map[schema.GroupVersionKind]compiler{
		v1alpha1.GroupVersion.WithKind("GraphView"): func(ctx context.Context, object *unstructured.Unstructured) ([]advice.Finding, error) {
			var view v1alpha1.GraphView
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &view); err != nil {
				return nil, fmt.Errorf("read the GraphView: %w", err)
			}
			accept := validation.Options{RequireServiceAccount: o.RequireServiceAccount}
			if o.Cluster == nil {
				return validation.GraphView(ctx, &view, accept)
			}
			accept.Served = func() *resources.Catalog { return o.Cluster.Served }
			accept.Account, accept.Objects = o.Cluster.serviceAccount, o.Cluster.objects
			findings, err := validation.GraphView(ctx, &view, accept)
			if view.Spec.Namespaces != nil && o.Cluster.Namespaces != nil {
				exists := func(name string) bool { return slices.Contains(o.Cluster.Namespaces, name) }
				findings = append(findings, advice.OfNamespaces(view.Spec.Namespaces.Names, exists, o.Cluster.Namespaces)...)
			}
			return findings, err
		},
		v1alpha1.GroupVersion.WithKind("ReferenceRule"): func(ctx context.Context, object *unstructured.Unstructured) ([]advice.Finding, error) {
			var rule v1alpha1.ReferenceRule
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &rule); err != nil {
				return nil, fmt.Errorf("read the ReferenceRule: %w", err)
			}
			return nil, validation.ReferenceRule(ctx, nil, &rule)
		},
	}
}
