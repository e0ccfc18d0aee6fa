// Package e2e tests the built operator as its users see it: a real control
// plane, bin/manager with the rights of config/rbac, manifests applied with
// kubectl, and subscribers that know a view's name and have a kubeconfig.
//
// The package knows the contract and not the operator's code: test/oracle builds the
// wanted graphs, and its reference client reads the messages.
// The operator is compiled from the working tree, with the race detector if
// the tests have it or GRAPHVIEW_RACE_OPERATOR is set, as by make test.
//
// One control plane and one operator serve all tests, which run one after
// another, each in a separate namespace; a test that stops either starts it
// again. No test asserts a duration: tests wait generously for
// events.
package e2e
