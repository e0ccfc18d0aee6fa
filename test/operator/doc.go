// Package operator runs the built operator against a control plane of test/env as in a
// cluster: with its own identity, the rights of config/rbac only, and reachable through
// the API server. `make run` and the end-to-end tests use it.
//
// It knows the operator's command line and manifests, and nothing of its code. The caller
// gives the path of the binary.
//
// The methods of an Operator are safe for concurrent use, except that only one of Stop,
// Kill and Restart may run at a time.
package operator
