package graphview

import "graphview.dev/graphview/advice"

// Status is the state of a view at one instant.
type Status struct {
	// Resources that the queries selected, sorted by group and resource.
	Resources []ResourceStatus
	// Vertices and Arcs count visible elements, Roots the root objects.
	Vertices, Arcs, Roots int
	// Held is the memory that the view holds by itself, in bytes.
	Held int64
	// Served: the view is served, and the counts are those of its graph.
	Served bool
	// Health counts the visible objects by health.
	Health Health
	// Missing counts references whose target does not exist, if the referrer needs the target and the
	// view would select it.
	Missing int
	// Subscribers counts open subscriptions.
	Subscribers int
	// Holder is the replica that has the view, if replicas share views; "" otherwise.
	Holder string
	// Warnings are the current ones, without names of objects, in a stable
	// order, not bounded.
	Warnings []string
	// Advice is about parts of the spec that have no effect.
	Advice []advice.Finding
	// Synced: every selected resource has synced or was given up for now.
	Synced bool
	// LimitExceeded names the limit that the view exceeds, so that it is not served; "" for none.
	LimitExceeded string
}

// ResourceStatus is the state of one selected resource.
type ResourceStatus struct {
	Group, Version, Resource string
	Namespaced               bool
	// Objects in the view, visible or not.
	Objects int
	// Synced: the view holds all of the resource's objects that it selects.
	Synced bool
	// Message is the reason if it is not synced, or a problem of the watch; "" for none.
	Message string
}

// Health counts visible objects by health; see the package health.
type Health struct {
	OK, Progressing, Degraded, Suspended, Terminating, Unknown int
}
