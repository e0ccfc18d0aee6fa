// Package integration tests the operator's parts against a real control plane.
//
// One control plane serves all tests: etcd, kube-apiserver with RBAC and
// aggregation, and kube-controller-manager, with the CustomResourceDefinitions
// installed. Every test works in namespaces of its own.
package integration
