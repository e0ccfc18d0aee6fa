package oracle

import (
	"cmp"
	"fmt"
)

// VertexKey is a vertex's identity. Namespace is empty for cluster-scoped objects.
type VertexKey struct {
	Group, Version, Resource string
	Namespace, Name          string
}

func (k VertexKey) String() string {
	group := cmp.Or(k.Group, "core")
	name := k.Name
	if k.Namespace != "" {
		name = k.Namespace + "/" + name
	}
	return fmt.Sprintf("%s/%s %s %s", group, k.Version, k.Resource, name)
}

// ArcKey is an arc's identity. Type is or, r or t.
type ArcKey struct {
	From, To VertexKey
	Type     string
}

func (k ArcKey) String() string { return fmt.Sprintf("%s -%s-> %s", k.From, k.Type, k.To) }

// Attributes of an arc, as on the wire.
type Attributes struct {
	Controller         bool `json:"c,omitempty"`
	BlockOwnerDeletion bool `json:"b,omitempty"`
	Missing            bool `json:"e,omitempty"`
	// Outside is "outside" or "unknown" for a missing target. The oracle does not know Optional, and
	// does not compare it.
	Outside  string   `json:"x,omitempty"`
	Optional bool     `json:"o,omitempty"`
	Fields   []string `json:"f,omitempty"`
}

// Graph is the graph of a subscriber. A vertex's content is a map (o), a list (j), a
// summary (m), or nil for none, all as encoding/json decodes them.
type Graph struct {
	Vertices map[VertexKey]any
	Arcs     map[ArcKey]Attributes
}

func newGraph() Graph {
	return Graph{Vertices: map[VertexKey]any{}, Arcs: map[ArcKey]Attributes{}}
}
