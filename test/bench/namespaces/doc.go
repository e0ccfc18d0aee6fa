// Command namespaces measures the cost of views of single namespaces, with and without a
// view of all namespaces, and writes the table of docs/sizing.md:
//
//	go run ./test/bench/namespaces
//
// It starts a control plane with 300 namespaces, and an engine for each row. It counts the
// engine's requests: lists, watches and discovery.
package main
