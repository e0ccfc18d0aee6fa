// Package manifest checks manifests of this operator's kinds without a server:
// their form by the schema of the shipped CustomResourceDefinitions with its rules in CEL,
// and their content by the compiler of the operator's webhook. Problems have a line of the
// file if it can be determined.
//
// It does not check facts of a server: ServiceAccounts, served resources, policies. It
// skips other kinds.
//
// A Checker may be used by any goroutine.
package manifest
