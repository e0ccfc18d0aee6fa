package controllers

import (
	"context"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
)

// Engine has the methods of a graphview.Engine that GraphViewReconciler calls.
type Engine interface {
	// Apply creates the view of that name or gives it another spec; another uid is
	// another view. A *spec.InvalidError says that the view is not
	// served until its spec is corrected.
	Apply(ctx context.Context, name graphview.Name, uid string, spec v1alpha1.GraphViewSpec) error
	// Refuse is Apply for a view that must not be served, with any spec.
	Refuse(name graphview.Name, uid string, why *spec.InvalidError)
	// Remove ends the view, if there is one.
	Remove(name graphview.Name)
	// Status returns the contents of the view, and whether there is a view of that name.
	Status(name graphview.Name) (graphview.Status, bool)
}
