// Command crds measures the cost of CustomResourceDefinitions, whose schemas are read for
// references: the time until a view of everything has synced, in clusters with many and
// with none, and the memory of the schemas. It writes the table of
// docs/references-measured.md:
//
//	go run ./test/bench/crds -crds 1500
//
// It starts its own control plane, and takes some minutes. Most of the time the control
// plane prepares to serve the kinds.
package main
