// Package namespaced tests the operator with the least rights that are
// documented: those of config/components/namespaced, which open the cluster to
// it namespace by namespace.
package namespaced
