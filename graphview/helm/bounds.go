package helm

import "graphview.dev/graphview/budget"

// maxName is as long as a name of Kubernetes' can be, and maxWord as long as a
// kind or a namespace can be.
const (
	maxName = 253
	maxWord = 63
)

// What one release may make. A parser of YAML makes some five hundred bytes of
// each node and some ten thousand of each document, so nodes and documents are
// counted before it sees the text.
var (
	unpackedBytes = budget.Declare("helm_unpacked_bytes", "bytes in one Helm release once it is unpacked", 16<<20)
	parsedBytes   = budget.Declare("helm_parsed_bytes", "bytes of one Helm release in documents that take a YAML parser", 256<<10)
	parsedNodes   = budget.Declare("helm_parsed_nodes", "YAML nodes of one Helm release in documents that take a YAML parser", 25_000)
	parsedTexts   = budget.Declare("helm_parsed_documents", "documents of one Helm release that take a YAML parser", 500)
	listedObjects = budget.Declare("helm_objects", "objects of one Helm release", 10_000)
	listedBytes   = budget.Declare("helm_names_bytes", "bytes of names in one Helm release", 1<<20)
)

// meters count what one release makes.
type meters struct {
	parsedBytes, parsedNodes, parsedTexts, objects, names *budget.Meter
}

func newMeters() meters {
	return meters{
		parsedBytes: parsedBytes.Meter(),
		parsedNodes: parsedNodes.Meter(),
		parsedTexts: parsedTexts.Meter(),
		objects:     listedObjects.Meter(),
		names:       listedBytes.Meter(),
	}
}
