package oracle

// Narrow is the part of a graph to which a walk from some of its objects leads. The graph
// is what somebody sees of a view: nobody walks through what is hidden.
func Narrow(seen Graph, roots []VertexKey, follow Follow) Graph {
	reached := map[VertexKey]bool{}
	for _, root := range roots {
		if _, there := seen.Vertices[root]; there {
			reached[root] = true
		}
	}
	return visible(seen, explore(seen, reached, &Roots{Follow: &follow}))
}
