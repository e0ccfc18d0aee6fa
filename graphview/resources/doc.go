// Package resources discovers the resources that the cluster serves and selects
// the resources that a view watches.
//
// [Discovery] polls the cluster's discovery documents and publishes an immutable
// [Catalog] whenever they change. [Select] applies a view's queries to a catalog
// and keeps one version of each resource. The package has no dependency on
// objects, expressions and views: a query is a [Match] function.
//
// # Contents of a catalog
//
// A catalog has the resources that can be listed and watched. It has no
// subresources, and leaves out the groups extensions and events.k8s.io, which serve
// objects of other groups a second time, and the operator's own served API, whose
// graphs are built from the catalog.
//
// # Failed discovery
//
// The catalog is level-based: every state is derived from a whole discovery, so
// the next discovery makes up for a lost event or a restart. Two rules keep resources
// in the catalog when discovery fails:
//
//   - If the discovery of a group/version fails, or the server marks it as stale,
//     the catalog keeps the group/version's previous resources and lists it in
//     [Catalog.Failed]. A group/version is removed only when a discovery that works
//     does not list it.
//   - An API server that is starting answers discovery before it has read its
//     CustomResourceDefinitions. So when a discovery lacks resources, Discovery
//     asks whether the server is ready, and then uses the result of a second
//     discovery.
//
// Kubernetes' garbage collector (pkg/controller/garbagecollector) also keeps the
// previous resources when discovery is partial.
//
// # Schedule
//
// Watches on the metadata of CustomResourceDefinitions and APIServices signal
// changes. After a signal, the cluster is discovered at once and then seven more
// times at growing intervals, for half a minute, because discovery documents lag
// behind the objects. Signals in quick succession cause one discovery. There is also
// a slow poll, which is the only trigger if these objects cannot be watched. If
// discovery fails as a whole, the last catalog stays and discovery is retried with
// back-off.
//
// # Concurrency
//
// A Catalog never changes. All methods of Discovery may be called from any
// goroutine. Run must be called once; it waits for all goroutines that it started.
package resources
