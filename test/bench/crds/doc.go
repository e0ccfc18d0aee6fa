// Command crds measures what CustomResourceDefinitions cost, whose schemas are read for
// references: how long until a view of everything is synced in a cluster with many of
// them, beside one with none, and what memory the schemas take, beside an engine to which
// nobody publishes any. It writes the table of docs/references-measured.md:
//
//	go run ./test/bench/crds -crds 1500
//
// It starts a control plane of its own, and takes some minutes, most of which the
// control plane needs to serve the kinds.
package main
