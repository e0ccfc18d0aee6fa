// Package command is the kubectl plugin: its commands, their flags, and what
// they say when something is in the way. It reads graphs with package client,
// over whatever a kubeconfig leads to, and draws them with package outline;
// manifests are checked by package manifest.
//
// It knows nothing of how a graph comes to be. Summaries say which objects are a view's
// roots. The order of several roots is that of the expressions in the GraphView's spec,
// which it evaluates as the operator does, where the user may read them.
//
// A command is one goroutine, and a second one while it waits, which says on
// standard error what it waits for and is joined.
package command
