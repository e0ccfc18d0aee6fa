// Package installation installs the manifests of users, a rendered Helm chart or the output of
// kustomize, on a control plane of test/env, and runs the operator as its
// Deployment would: with the arguments of the Deployment and the token of
// its ServiceAccount, and so with exactly the installed rights.
//
// It applies manifests server-side, with one change: there is no
// cluster network, so the Service, the APIService and the webhook name ports
// of this machine. The Pods of the Deployment stay Pending.
//
// It knows manifests and the operator's command line. The caller gives the path of the
// binary.
package installation
