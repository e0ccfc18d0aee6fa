package graphview

import (
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/advice"
)

// Status is the state of a view at one moment.
type Status struct {
	// Resources that the queries selected, sorted by group and resource. Their messages are not cut.
	Resources []v1alpha1.ResourceStatus
	// Vertices and Arcs count the visible elements. Roots counts the root objects.
	Vertices, Arcs, Roots int
	// Held is the memory that the view holds by itself, in bytes.
	Held int64
	// Served: the view is served. Otherwise the counts of its graph are 0.
	Served bool
	// Health counts the visible objects by health.
	Health v1alpha1.HealthCounts
	// Missing counts the references whose target does not exist, although the referrer requires it.
	// References to targets that the view would not select do not count.
	Missing int
	// Subscribers counts open subscriptions.
	Subscribers int
	// Warnings are the current warnings, without names of objects, in a stable order. Their number
	// is not bounded.
	Warnings []string
	// Advice is about parts of the spec that have no effect.
	Advice []advice.Finding
	// Synced: every selected resource has synced or was given up for now.
	Synced bool
	// SomeNamespaces: the spec selects namespaces.
	SomeNamespaces bool
	// LimitExceeded is the reason why a view that exceeds a limit is not served; else "".
	LimitExceeded string
	// Unapplied: the owner of the view could hold no more memory for its spec when the spec was applied. The
	// caller applies it again now.
	Unapplied bool
}
