// Package plugin tests kubectl-graphview and package client as their users have
// them: the built plugin, found by kubectl on PATH, with kubeconfigs of users of
// different rights, against the built operator behind a real API server.
//
// What the plugin writes is compared with testdata, exit codes included; `go test
// ./test/plugin -update` writes it anew.
//
// TestNeeds does what an evaluation wanted of graphs, with the GraphViews that `kubectl
// graphview new` writes.
package plugin
