package controllers

import (
	"context"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
)

// Engine is what this package needs of a graphview.Engine.
type Engine interface {
	// Apply makes the view of that name what the spec says; another uid is
	// another view. An *spec.InvalidError says that the view is not
	// served until it is mended.
	Apply(ctx context.Context, name graphview.Name, uid string, spec spec.Spec) error
	// Refuse is Apply for a view that may not be served, whatever its spec.
	Refuse(name graphview.Name, uid string, why *spec.InvalidError)
	// Remove ends the view, if there is one.
	Remove(name graphview.Name)
	// Status tells what the view holds, and whether there is one.
	Status(name graphview.Name) (graphview.Status, bool)
}
