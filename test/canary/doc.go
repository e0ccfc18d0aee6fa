// Package canary searches for the content of Secrets in the memory of the running
// operator, in its log, and in its output; and for the values that the history never keeps, such as
// those of ConfigMaps and environment variables, in its file and in answers about changes.
//
// The built operator runs against a real control plane, with a Go runtime that
// overwrites freed memory (GODEBUG=clobberfree=1), and views
// that try to show Secrets. A canary is a value that occurs only in a
// Secret; the search must not find it. A control is a value that the same search
// must find in the same memory.
//
// Buffers of connections are the documented exception: bytes from the API server
// stay in them until others arrive. The tests recognise such a buffer in two ways: by
// the bytes around a hit, which are an object in the form that only the API server
// sends; and by stopping the API server, which ends all connections, after which there
// must be no hit.
//
// It reads /proc, so its tests are for Linux.
package canary
