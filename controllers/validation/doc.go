// Package validation says of a GraphView or a ReferenceRule what an operator would say
// of its spec: it puts the spec in the engine's words ([SpecOf], [RuleOf]), compiles it,
// and answers with the Status that the webhook refuses it with.
//
// The controllers, the webhook and kubectl graphview validate use it, so that all three
// say the same. It deliberately knows no client and no controller: whether a
// ServiceAccount exists is for the controller to find out.
//
// Everything may be used by any number of goroutines.
package validation
