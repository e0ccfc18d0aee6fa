package refs

import (
	"strings"

	"graphview.dev/graphview/graph"
)

// parseInventoryID reads an entry of Flux' inventories, as cli-utils writes it:
// <namespace>_<name>_<group>_<kind>, where the namespace of a cluster-scoped
// object and the core group are empty, and a colon in a name (of a Role) is
// written as two underscores.
func parseInventoryID(id string) (graph.Reference, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	if !ok {
		return graph.Reference{}, false
	}
	end := strings.LastIndexByte(rest, '_')
	if end < 0 {
		return graph.Reference{}, false
	}
	rest, kind := rest[:end], rest[end+1:]
	if end = strings.LastIndexByte(rest, '_'); end < 0 {
		return graph.Reference{}, false
	}
	name, group := strings.ReplaceAll(rest[:end], "__", ":"), rest[end+1:]
	if kind == "" || name == "" || strings.ContainsRune(name, '_') {
		return graph.Reference{}, false
	}
	ref := graph.Reference{To: graph.Kind{Group: group, Kind: kind}, Namespace: namespace, Name: name, Scope: graph.ScopeNamespaced}
	if namespace == "" {
		ref.Scope = graph.ScopeCluster
	}
	return ref, true
}
