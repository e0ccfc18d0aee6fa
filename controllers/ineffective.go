package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
)

// Ineffective returns a function that returns [v1alpha1.GraphView.Ineffective] of a GraphView in the cache of c.
func Ineffective(ctx context.Context, c client.Reader) func(graphview.Name) (text string, known bool) {
	return func(name graphview.Name) (string, bool) {
		var view v1alpha1.GraphView
		// An error is that the GraphView was deleted, or that the cache stops.
		if c.Get(ctx, client.ObjectKey{Namespace: name.Namespace, Name: name.Name}, &view) != nil {
			return "", false
		}
		return view.Ineffective()
	}
}
