// Package resources knows what the cluster serves and picks from it what a
// view watches.
//
// [Discovery] follows the cluster's discovery documents and publishes each
// different state of them as an immutable [Catalog]; [Select] applies a view's
// queries to a catalog and keeps one version of each resource. The package
// deliberately knows no objects, no expressions and no views: a query is a
// [Match] function here.
//
// # What is in a catalog
//
// Resources that can be listed and watched. Never subresources, and never the
// groups extensions and events.k8s.io, which serve the same objects under a
// second name, nor the operator's own served API, whose graphs are made of what
// is found here.
//
// # Unknown is not gone
//
// The catalog is level-based: every state is derived from a whole discovery, so
// a lost event or a restart heals by itself. Two things keep a broken discovery
// from looking like a smaller cluster:
//
//   - A group/version whose discovery fails, or that the server itself calls
//     stale, keeps what the previous catalog had of it and is listed in
//     [Catalog.Failed]. Only a group/version that a working discovery no longer
//     names is gone.
//   - An API server that is starting answers discovery before it has read its
//     CustomResourceDefinitions. So a discovery that misses something is
//     believed only when the server says that it is ready, and then a second
//     discovery agrees.
//
// The idea of a partial discovery that keeps what it had is that of Kubernetes'
// garbage collector (pkg/controller/garbagecollector).
//
// # When it looks
//
// Watches on the metadata of CustomResourceDefinitions and APIServices only say
// that something moved. After each such signal the cluster is discovered at
// once and then a few times more at growing distances, for half a minute, because
// discovery documents lag behind the objects; a series of signals is taken together.
// There is also a slow poll, the only source if these objects may not be
// watched. A discovery that fails altogether leaves the last
// catalog and is tried again with back-off.
//
// # Concurrency
//
// A Catalog never changes. All methods of Discovery may be called from any
// goroutine; Run must be called once, and returns after everything it started.
package resources
