// Package network puts a path with faults between a client and a server: bytes are late, are held
// in one direction or in both, and connections are cut. It counts the bytes that pass.
//
// It knows TCP and nothing of the protocol above it, so that the same program can measure any
// version of the operator. An HTTP proxy with faults is in test/faults.
//
// The methods of a Path are safe for concurrent use.
package network
