// Kinds writes the table of Kubernetes' own kinds, as part of `make generate`: group, version, kind,
// resource and scope of each, in the newest version, from the markers in the Go types of k8s.io/api.
//
// It runs at the root of the repository, and reads the sources in the module cache.
package main
