// Package command is the kubectl plugin: its commands, their flags, and what
// they say when something is in the way. It reads graphs with package client,
// over whatever a kubeconfig leads to, and draws them with package outline;
// manifests are checked by package manifest.
//
// It knows nothing of how a graph comes to be. What a view's roots are, which no
// message says, it finds as the operator does: with the expressions of the
// GraphView's spec, where the user may read that.
//
// A command is one goroutine, and a second one while it waits, which says on
// standard error what it waits for and is joined.
package command
