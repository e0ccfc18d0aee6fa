package helm

import "graphview.dev/graphview/budget"

// maxName is the maximum length of a Kubernetes name, maxWord that of a kind or a namespace.
const (
	maxName = 253
	maxWord = 63
)

// Bounds for one release. A YAML parser allocates about 500 bytes for each node and 10,000 for
// each document, so nodes and documents are counted before parsing.
var (
	unpackedBytes = budget.Declare("helm_unpacked_bytes", "bytes in one Helm release once it is unpacked", 16<<20)
	parsedBytes   = budget.Declare("helm_parsed_bytes", "bytes of one Helm release in documents that take a YAML parser", 256<<10)
	parsedNodes   = budget.Declare("helm_parsed_nodes", "YAML nodes of one Helm release in documents that take a YAML parser", 25_000)
	parsedTexts   = budget.Declare("helm_parsed_documents", "documents of one Helm release that take a YAML parser", 500)
	listedObjects = budget.Declare("helm_objects", "objects of one Helm release", 10_000)
	listedBytes   = budget.Declare("helm_names_bytes", "bytes of names in one Helm release", 1<<20)
)

// meters count the parts of one release.
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
