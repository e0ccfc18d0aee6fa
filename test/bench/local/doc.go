// Command local measures `kubectl graphview --local`, from the command to the complete graph, beside
// `kubectl get all`, and prints the table of docs/measured/plugin.md:
//
//	go run ./test/bench/local
//
// It starts a control plane for each number of objects, makes applications in ten namespaces, and runs
// the built plugin as an administrator and as a user with the rights of the ClusterRole view in two of them. The
// requests are those of the API server's audit log.
package main
