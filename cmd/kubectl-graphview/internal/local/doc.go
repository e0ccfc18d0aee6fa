// Package local serves graphs of a cluster from this process, with the user's own kubeconfig and
// rights. It installs nothing and changes nothing in the cluster: it lists, watches, and reviews the
// user's rights. No other process reaches the graphs, which are served in memory.
//
// Rights ask the API server about the places that the user may list and watch. The engine watches only these. With
// runs a function while the graphs are served.
//
// The package does not know commands, flags or their output, and no
// controllers.
//
// # Concurrency
//
// Any number of goroutines may use Rights. With joins all goroutines that it starts.
package local
