// Command alone measures engines in its own process, without the operator around them, and writes
// their tables into documents:
//
//	go run ./test/bench/alone -measure crds -crds 1500
//	go run ./test/bench/alone -measure namespaces
//
// The first is the cost of CustomResourceDefinitions, whose schemas are read for references: the
// time until a view of everything has synced, in clusters with many and with none, and the memory
// of the schemas (docs/measured/references.md). It takes some minutes. Most of the time the control
// plane prepares to serve the kinds.
//
// The second is the cost of views of single namespaces, with and without a view of all namespaces,
// in a cluster with 300 of them (docs/measured/namespaces.md). It counts the engine's requests: lists, watches
// and discovery.
//
// Each starts its own control plane, and an engine for each row.
package main
