package manifest

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers"
)

// compiler says what the webhook would say of an object of the right form.
type compiler func(context.Context, *unstructured.Unstructured) error

func compilers(o Options) map[schema.GroupVersionKind]compiler {
	return map[schema.GroupVersionKind]compiler{
		v1alpha1.GroupVersion.WithKind("GraphView"): func(ctx context.Context, object *unstructured.Unstructured) error {
			var view v1alpha1.GraphView
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &view); err != nil {
				return fmt.Errorf("read the GraphView: %w", err)
			}
			return controllers.Validate(ctx, &view, controllers.Options{RequireServiceAccount: o.RequireServiceAccount})
		},
		v1alpha1.GroupVersion.WithKind("ReferenceRule"): func(ctx context.Context, object *unstructured.Unstructured) error {
			var rule v1alpha1.ReferenceRule
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &rule); err != nil {
				return fmt.Errorf("read the ReferenceRule: %w", err)
			}
			return controllers.ValidateRule(ctx, &rule)
		},
	}
}
