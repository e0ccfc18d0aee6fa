// Package gitops tests how GitOps tools judge GraphViews, by the status that the
// operator really writes: Argo CD with the health check of docs/manifests.md, run by
// a Lua interpreter, and Flux by kstatus.
package gitops
