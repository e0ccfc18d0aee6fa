// Package command is the kubectl plugin: its commands, their flags, and their
// errors with remedies. It reads graphs with package client,
// from the server of a kubeconfig, and draws them with package outline;
// package manifest checks manifests.
//
// It does not know how a graph is built. Summaries mark the roots of a view.
// The order of several roots is that of the expressions in the GraphView's spec,
// which it evaluates like the operator, if the user may read them.
//
// A command is one goroutine, with a second one during a wait, which prints
// the progress on standard error and is joined.
package command
