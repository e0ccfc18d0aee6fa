// Package e2e tests the built operator as its users meet it: a real control
// plane, bin/manager under the rights of config/rbac, manifests applied with
// kubectl, and subscribers that know a view's name and have a kubeconfig.
//
// The package knows the contract and nothing of the operator's insides: what a
// graph must be, test/oracle says; what a message means, its reference client.
// The operator is compiled from the tree as it is, with the race detector where
// the tests have it.
//
// One control plane and one operator serve all tests, which run one after
// another, each in a namespace of its own; a test that stops either starts it
// again. Nothing here asserts how long something takes: what has to happen is
// waited for, generously.
package e2e
