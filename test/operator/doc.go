// Package operator runs the built operator against a control plane of test/env,
// as a cluster would: under its own identity, with the rights of config/rbac and
// nothing more, and reachable through the API server. `make run` and the
// end-to-end tests use it.
//
// It knows the operator's command line, its manifests and nothing of its insides.
// Where the binary is, it is told; it builds nothing.
//
// The methods of an Operator may be called from several goroutines, except Stop,
// Kill and Restart, of which one may run at a time.
package operator
