// Package jsontree builds trees of compact, valid JSON: of a whole object, or
// of the parts of it that a caller asks for, which costs little more than
// finding them.
//
// Its input must have been found valid and compacted before, as the
// objects are that package watch retains: then a value is skipped by its
// brackets and quotes alone. On anything else its answers are worthless, and it
// may panic.
//
// It knows no Kubernetes. Everything in it may be used by many goroutines at
// once, but a [Shape] that is being made and [Parts], which belong to one goroutine.
package jsontree
