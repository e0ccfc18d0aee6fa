// Package contents compares two copies of a graph by sums of their elements, so that a client
// can continue a stream at any server: it sends a few kilobytes of sums, and the server sends
// the elements that differ. It is set reconciliation by buckets, as in the hash trees of Dynamo and Cassandra
// with one level.
//
// Each vertex has two tags of 64 bits: one of its key, and one of its content, which the server
// sends as the member c of svx. An arc has the tags of both its ends and one of its attributes.
// The first bits of a key's tag choose the bucket of a vertex and of the arcs that begin there. The
// sum of a bucket is the sum modulo 2⁶⁴ of a keyed hash of the tags of each element.
//
// Tags are the first 8 bytes of SHA-256 (FIPS 180-4). The keyed hash is HalfSipHash-2-4 with
// an output of 64 bits (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). Its key
// is the seed, which a client chooses at random for each connection: a user that may create
// objects knows no seed, and so cannot choose objects that hide the change of another one.
//
// docs/stream.md describes the same for authors of clients. The package imports only the
// standard library. Its types are not safe for concurrent use.
package contents
