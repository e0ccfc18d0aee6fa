package refs

import (
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
)

// scopeFields are booleans beside a name that choose the cluster-scoped kind of two: a
// ClusterIssuer instead of an Issuer.
var scopeFields = [...]string{"clusterScope", "clusterScoped"}

// clusterScopedVariant returns the cluster-scoped variant of a kind, if it is served.
func (s *Served) clusterScopedVariant(kind graph.Kind) (graph.Reference, bool) {
	kind.Kind = "Cluster" + kind.Kind
	if s == nil {
		return graph.Reference{}, false
	}
	scope, ok := s.scopes[kind]
	return graph.Reference{To: kind, Scope: scope}, ok
}

// scopeOf returns the target, or its cluster-scoped variant if a field of the object says so.
func (g *conventionReader) scopeOf(target graph.Reference, object map[string]any) graph.Reference {
	for _, field := range scopeFields {
		if object[field] == true {
			if wide, ok := g.served.clusterScopedVariant(target.To); ok {
				return wide
			}
		}
	}
	return target
}

// countNamesakes counts kinds. A kind and its cluster-scoped variant count once.
func countNamesakes(kinds []graph.Kind) int {
	if len(kinds) > 2*maxKindsPerWord {
		return len(kinds)
	}
	n := 0
	for _, kind := range kinds {
		single, wide := strings.CutPrefix(kind.Kind, "Cluster")
		if !wide || !slices.Contains(kinds, graph.Kind{Group: kind.Group, Kind: single}) {
			n++
		}
	}
	return n
}
