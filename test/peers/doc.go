// Package peers runs built operators that share views beside one control plane, as a
// cluster would. Between each of them and the others is a [Link], and between each and
// the API server a proxy of package faults, so that a test decides what each of them can
// reach.
//
// The methods of a Link may be called from any goroutine; those of a Replica as those
// of its Operator.
package peers
