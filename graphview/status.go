package graphview

import "graphview.dev/graphview/advice"

// Status is what a view holds at one instant.
type Status struct {
	// Resources that the queries selected, sorted by group and resource.
	Resources []ResourceStatus
	// Vertices and Arcs count what is visible; Roots the root objects.
	Vertices, Arcs, Roots int
	// Served: the counts say what is in a graph that is served.
	Served bool
	// Health counts the visible objects by how they are.
	Health Health
	// Missing counts references to what does not exist, as far as the view selects it
	// wherever it may be found and the referrer needs it.
	Missing int
	// Subscribers counts open subscriptions.
	Subscribers int
	// Holder names the replica that says this, where replicas share views; "" elsewhere.
	Holder string
	// Warnings are the current ones, without names of objects, in a stable
	// order, not bounded.
	Warnings []string
	// Advice is about parts of the spec that have no effect.
	Advice []advice.Finding
	// Synced: every selected resource has synced or was given up for now.
	Synced bool
	// LimitExceeded says which limit keeps the view from being served; "" if none.
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
	// Message says why not; "" when there is nothing to say.
	Message string
}
