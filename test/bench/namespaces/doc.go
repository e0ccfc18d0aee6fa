// Command namespaces measures what views of single namespaces cost, beside a view of
// all namespaces and without one, and writes the table of docs/sizing.md:
//
//	go run ./test/bench/namespaces
//
// It starts a control plane with 300 namespaces, and an engine for each row. Requests
// are those that the engine makes: lists and watches, and what discovery asks.
package main
