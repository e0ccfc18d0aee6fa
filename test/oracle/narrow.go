package oracle

// Narrow returns the part of a graph that a walk from some objects reaches. The graph is
// the part of a view that a user may see, so the walk does not pass hidden objects.
func Narrow(seen Graph, roots []VertexKey, follow Follow) Graph {
	reached := map[VertexKey]bool{}
	for _, root := range roots {
		if _, there := seen.Vertices[root]; there {
			reached[root] = true
		}
	}
	return visible(seen, explore(seen, reached, &Roots{Follow: &follow}))
}
