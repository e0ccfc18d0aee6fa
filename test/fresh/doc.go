// Package fresh tests that the first answer in a healthy cluster is green: kubectl graphview problems lists nothing in
// clusters as kubeadm, kind, k3s and a managed service install them. testdata has small equivalents of their manifests,
// and the tests stand in for the kubelet of the one node.
package fresh
