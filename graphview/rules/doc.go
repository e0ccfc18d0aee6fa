// Package rules keeps what decides how references are found: the built-in table,
// ReferenceRules, the schemas of kinds and the kinds that the cluster serves.
//
// A [Set] holds all of it. Its [Snapshot] is immutable; a watch takes the current one for
// each object. [Snapshot.Fingerprint] is equal for a kind as long as the same references
// are found in the same object, so a caller that keeps the fingerprint under which it
// read its objects knows when to read them again.
//
// A [SchemaReader] reads the schemas of the kinds that are watched into a Set.
//
// The package does not know views, feeds or the graph, nor who reads objects again.
//
// # Concurrency
//
// A Set may be used by many goroutines. One goroutine runs a SchemaReader.
package rules
