// Package plugin tests kubectl-graphview and package client as users run them: the built
// plugin, found by kubectl on PATH, with kubeconfigs of users with different rights,
// against the built operator behind a real API server.
//
// It compares the plugin's output and exit codes with testdata; `go test ./test/plugin
// -update` rewrites them.
//
// TestNeeds runs the tasks of an evaluation with the GraphViews that `kubectl graphview
// new` writes.
package plugin
