// Package rules holds the rules by which references are found: the built-in table, ReferenceRules, the
// schemas of kinds and the kinds that the cluster serves.
//
// A [Set] holds all of them. Its [Snapshot] is immutable; a watch takes the current one for each object.
// While the [Snapshot.Fingerprint] of a kind stays equal, the same references are found in the same
// object. A caller keeps the fingerprint under which it read its objects, and rereads them when it
// changes.
//
// A [SchemaReader] reads the schemas of the kinds that are watched into a Set.
//
// The package does not know views, feeds, the graph, or the callers that reread objects.
//
// # Concurrency
//
// A Set may be used by many goroutines. One goroutine runs a SchemaReader.
package rules
