package format

import "strings"

// Key names a vertex. Group is "" for the core group, Namespace for
// cluster-scoped objects.
type Key struct {
	Group, Version, Resource string
	Namespace, Name          string
}

// Arc is a reference from one vertex to another. Its type and attributes are
// those of the stream protocol.
type Arc struct {
	From, To Key
	// Type is or, r or t; another type is written unchanged.
	Type string
	// Controller and BlockOwnerDeletion are those of an owner reference.
	Controller, BlockOwnerDeletion bool
	// Missing reports whether the destination is not in the graph. Outside is "outside" if it exists, "unknown" if
	// that is not known, and Optional reports that the absence is no problem.
	Missing  bool
	Outside  string
	Optional bool
	// Fields are the paths of the references.
	Fields []string
	// Words are the verbs of the references.
	Words []string
}

// Warning is the reason why parts of the graph may be missing.
type Warning struct {
	Type, Message string
}

// Graph is a graph to write. The zero value is an empty graph.
type Graph struct {
	// Namespace and Name are those of the view; either may be empty.
	Namespace, Name string
	// Incomplete reports whether the view had not synced, which is written as a comment.
	Incomplete bool

	numbers  map[Key]int32
	keys     []Key
	present  []bool // by number: added as a vertex, not only the end of an arc
	health   []string
	vertices int
	arcs     []arc
	texts    map[string]string
	warnings []Warning
}

// arc is an Arc with numbers for keys.
type arc struct {
	from, to                                int32
	controller, blocking, missing, optional bool
	kind, outside, fields, words            string
}

// AddVertex adds a vertex with its health, "" for none, or updates the health of a vertex that was
// added before.
func (g *Graph) AddVertex(key Key, health string) {
	n := g.number(key)
	g.health[n] = g.intern(health)
	if !g.present[n] {
		g.present[n] = true
		g.vertices++
	}
}

// AddArc adds an arc. Each arc is added once. Ends that are never added as vertices are drawn
// as missing.
func (g *Graph) AddArc(a Arc) {
	g.arcs = append(g.arcs, arc{
		from: g.number(a.From), to: g.number(a.To), kind: g.intern(a.Type), fields: g.intern(strings.Join(a.Fields, ", ")),
		words:      g.intern(strings.Join(a.Words, " and ")),
		controller: a.Controller, blocking: a.BlockOwnerDeletion, missing: a.Missing, optional: a.Optional, outside: g.intern(a.Outside),
	})
}

// label returns the label of an arc: its words, else its type.
func (a *arc) label() string {
	switch {
	case a.words != "":
		return a.words
	case a.kind == "or":
		return "is owned by"
	default:
		return a.kind
	}
}

// absence describes in a word why a destination is not in the graph.
func (a *arc) absence() string {
	switch {
	case !a.missing:
		return ""
	case a.outside != "":
		return "outside"
	case a.optional:
		return "optional"
	default:
		return "missing"
	}
}

// AddWarning adds a warning.
func (g *Graph) AddWarning(w Warning) { g.warnings = append(g.warnings, w) }

// Len returns the numbers of vertices and arcs, without missing vertices.
func (g *Graph) Len() (vertices, arcs int) { return g.vertices, len(g.arcs) }

// number returns the number of a key, a new one if need be.
func (g *Graph) number(key Key) int32 {
	if n, ok := g.numbers[key]; ok {
		return n
	}
	if g.numbers == nil {
		g.numbers = map[Key]int32{}
	}
	key = Key{g.intern(key.Group), g.intern(key.Version), g.intern(key.Resource), g.intern(key.Namespace), strings.Clone(key.Name)}
	n := int32(len(g.keys)) //nolint:gosec // a graph of two thousand million vertices fits nowhere
	g.numbers[key] = n
	g.keys = append(g.keys, key)
	g.present = append(g.present, false)
	g.health = append(g.health, "")
	return n
}

// intern returns one copy of equal texts, which does not retain the message.
func (g *Graph) intern(text string) string {
	if kept, ok := g.texts[text]; ok {
		return kept
	}
	if g.texts == nil {
		g.texts = map[string]string{}
	}
	text = strings.Clone(text)
	g.texts[text] = text
	return text
}
