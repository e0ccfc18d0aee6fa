//go:build tools

// Package controlplane pins the programs of a real Kubernetes control plane
// (etcd, kube-apiserver, kube-controller-manager, kubectl), which
// `make control-plane` compiles from their Go modules.
//
// It is a Go module of its own because k8s.io/kubernetes replaces every
// staging module; none of that may reach the operator's dependencies.
// Nothing imports it: the build tag keeps it out of every build, the imports
// keep the versions in go.mod.
package controlplane

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
