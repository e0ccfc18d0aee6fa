package graphview

import (
	"graphview.dev/api/v1alpha1"
	"graphview.dev/graphview/spec"
)

// Memory that a view holds, in bytes. TestHeldBytes compares the sum with the heap.
const (
	viewBytes     = 40 << 10 // per view without a spec, with its GraphView in the cache and its Events
	programBytes  = 96       // per byte of a spec's text once it is compiled
	rightBytes    = 250      // per answer about a place
	watchBytes    = 64 << 10 // per watch, with its goroutine and buffers
	objectBytes   = 1400     // per object that a watch retains, without its content
	selectedBytes = 64       // per namespace that the view selects by its content
	indexedBytes  = 16       // per namespace in the index of a watch that the view shares
)

// compiledBytes returns the memory of a view with its compiled spec.
func compiledBytes(s *v1alpha1.GraphViewSpec) int64 {
	return viewBytes + programBytes*int64(spec.TextLen(s))
}
