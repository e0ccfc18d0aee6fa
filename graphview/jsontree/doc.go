// Package jsontree builds Go values from compact, valid JSON: from a whole
// object, or from the parts that a caller asks for. Skipping the other parts
// costs little.
//
// The input must be valid and compact, as the objects are that package watch
// retains, because a value is skipped by its brackets and quotes alone. For any
// other input the results are wrong and the package may panic. Only a [Scanner] also
// takes white space, for objects as an API server sends them.
//
// Everything may be used by many goroutines at the same time, except [Parts] and
// a [Shape] that is still being changed.
package jsontree
