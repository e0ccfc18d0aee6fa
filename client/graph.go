package client

import (
	"maps"
	"slices"
	"time"
)

// Graph is a graph that messages build. The zero value is empty and ready.
type Graph struct {
	Vertices map[Key]*Vertex
	Arcs     map[ArcKey]Attributes
	// Rev is the last revision. From the message with it until
	// the next message, the graph is the view's graph at one instant.
	Rev string
	// Synced reports whether the graph is complete, except for the parts that warnings name.
	Synced bool
	// At is the time of a graph that is not the present one; zero: it is.
	At time.Time

	warnings   map[string]Warning
	neighbours *neighbours // nil until the first use
	kinds      map[resource]kind
}

type resource struct{ group, name string }

// kind has the kind of a resource. all reports whether the graph has each object that the subscriber may see,
// except for the parts that warnings name.
type kind struct {
	kind string
	all  bool
}

// Kind returns the kind of a vertex, or of the destination of an arc; "" if the server has not
// sent it.
func (g *Graph) Kind(k Key) string { return g.kinds[resource{k.Group, k.Resource}].kind }

// Watches reports whether the view watches a kind, as far as the server has said so.
func (g *Graph) Watches(group, name string) bool {
	for at, known := range g.kinds {
		if at.group == group && known.kind == name {
			return true
		}
	}
	return len(g.kinds) == 0
}

// Apply applies a message. Deletions of unknown elements have no effect.
func (g *Graph) Apply(m *Message) {
	if m.Reset {
		g.reset(m.Keep)
	}
	if g.Vertices == nil {
		g.Vertices, g.Arcs = map[Key]*Vertex{}, map[ArcKey]Attributes{}
	}
	for i := range m.Actions {
		switch a := &m.Actions[i]; {
		case a.SetVertex != nil:
			g.Vertices[a.SetVertex.Key] = a.SetVertex
			g.neighbours.setVertices()
		case a.DeleteVertex != nil:
			delete(g.Vertices, a.DeleteVertex.Key)
			g.neighbours.setVertices()
		case a.SetArc != nil:
			key := g.shared(a.SetArc.Key())
			g.Arcs[key] = a.SetArc.Attributes
			g.neighbours.set(key)
		case a.DeleteArc != nil:
			delete(g.Arcs, a.DeleteArc.Key())
			g.neighbours.remove(a.DeleteArc.Key())
		}
	}
	for i := range m.Cleared {
		delete(g.warnings, m.Cleared[i].Identity())
	}
	for i := range m.Warnings {
		if g.warnings == nil {
			g.warnings = map[string]Warning{}
		}
		g.warnings[m.Warnings[i].Identity()] = m.Warnings[i]
	}
	for i, k := range m.Kinds { // all that the view watches
		if i == 0 {
			g.kinds = map[resource]kind{}
		}
		g.kinds[resource{k.Group, k.Resource}] = kind{k.Kind, k.All}
	}
	if m.Synced {
		g.Synced = true
	}
	if m.Rev != "" {
		g.Rev = m.Rev
	}
}

// shared returns an equal key with the strings of its ends' vertices. A graph has several times as
// many arcs as vertices, and the names would be most of its memory.
func (g *Graph) shared(key ArcKey) ArcKey {
	for _, end := range []*Key{&key.From, &key.To} {
		if v := g.Vertices[*end]; v != nil {
			*end = v.Key
		}
	}
	return key
}

// Forget empties the graph.
func (g *Graph) Forget() { *g = Graph{} }

// Warnings returns the present warnings, sorted.
func (g *Graph) Warnings() []Warning {
	all := make([]Warning, 0, len(g.warnings))
	for _, identity := range slices.Sorted(maps.Keys(g.warnings)) {
		all = append(all, g.warnings[identity])
	}
	return all
}

// Clone returns a copy that does not change. Contents, which are immutable, are shared.
func (g *Graph) Clone() *Graph {
	c := *g
	c.Vertices, c.Arcs, c.warnings = maps.Clone(g.Vertices), maps.Clone(g.Arcs), maps.Clone(g.warnings)
	c.kinds = maps.Clone(g.kinds)
	c.neighbours = nil // those of the copy are its own
	return &c
}

// Keys returns the keys of the vertices, sorted.
func (g *Graph) Keys() []Key { return slices.SortedFunc(maps.Keys(g.Vertices), Key.Compare) }

// ArcKeys returns the keys of the arcs, sorted.
func (g *Graph) ArcKeys() []ArcKey {
	return slices.SortedFunc(maps.Keys(g.Arcs), ArcKey.Compare)
}

// empty reports whether the graph has no elements and no warnings.
func (g *Graph) empty() bool { return len(g.Vertices)+len(g.Arcs)+len(g.warnings) == 0 }
