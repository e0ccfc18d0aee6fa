// Package validation checks the spec of a GraphView or a ReferenceRule as the operator
// does: it compiles the spec, and returns the Status with which the webhook refuses it.
//
// The controllers, the webhook and kubectl graphview validate use it, so that all three
// have the same messages. It deliberately knows no client and no controller: the controller
// finds out whether a ServiceAccount exists.
//
// Everything may be used by any number of goroutines.
package validation
