// Package installation installs what users install, a rendered Helm chart or what
// kustomize builds, on a control plane of test/env, and runs the operator as its
// Deployment would be run: with the arguments of the Deployment and the token of
// its ServiceAccount, so with exactly the rights that were installed.
//
// Manifests are applied server-side, as they are but for one thing: there is no
// cluster network, so the Service, the APIService and the webhook lead to ports
// of this machine. The Pods that the Deployment makes stay Pending.
//
// It knows manifests and the operator's command line; where the binary is, it is
// told.
package installation
