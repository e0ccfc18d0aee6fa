package helm

import "graphview.dev/graphview/budget"

// maxName is the maximum length of a Kubernetes name, maxWord that of a kind or a namespace.
const (
	maxName = 253
	maxWord = 63
)

// releaseBytes limits the memory that one release takes once it is unpacked, and the memory that
// reading it takes.
var releaseBytes = budget.Declare("helm_release_bytes", "bytes that one Helm release takes once it is unpacked, or while it is read", 16<<20)

// The memory that reading takes, in bytes. A YAML parser allocates parsedDocument, and parsedNode for
// each node; the time for long scalars is why a byte counts more than its size. Listed objects
// count more than their size too: they are kept, and other parts of the operator look them up.
const (
	parsedByte     = 64
	parsedNode     = 500
	parsedDocument = 10_000
	listedObject   = 1_024
	listedByte     = 8 // of names
)
