// Package manifest checks manifests of this operator's kinds without a server:
// their form, by the schema of the shipped CustomResourceDefinitions with its
// rules in CEL, and what they say, by the compiler of the operator's webhook. It
// says where in a file something is wrong, as far as that can be known.
//
// What a server alone knows it does not check: whether a ServiceAccount exists,
// what a cluster serves, what its policies are. Other kinds it passes over.
//
// A Checker may be used by many goroutines at once.
package manifest
