// Package canary looks for the content of Secrets in the memory of the running
// operator, in what it logs, and in what it tells anybody.
//
// The built operator runs against a real control plane, with a Go runtime that
// overwrites what the garbage collector frees (GODEBUG=clobberfree=1), and views
// that try hard to see into Secrets. What must not be anywhere is a canary: a
// value that occurs nowhere else. What must be somewhere, in the same memory and
// found by the same search, is a control.
//
// Buffers of connections are the documented exception: bytes that have come from
// the API server stay in them until others come. Which memory is such a buffer
// is told in two ways: by the neighbours of what was found, which are then an
// object in the form the API server sends and the operator never makes; and by
// taking the API server away, after which there are no connections, and nothing
// may be found at all.
//
// It reads /proc, so its tests are for Linux.
package canary
