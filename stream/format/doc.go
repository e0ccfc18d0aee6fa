// Package format writes a graph in the languages of programs that draw graphs
// or analyse them: DOT (Graphviz), Mermaid, and GraphML (NetworkX, Gephi, yEd).
//
// A [Graph] has the names of vertices, the arcs between them, and
// warnings. The caller adds them one by one, in any order, since [Graph.Write] sorts. So
// equal graphs give equal texts, which can be compared and committed.
//
// All three languages get the same contents: vertices grouped by namespace; arcs with their type;
// missing ends of arcs, dashed or with an attribute;
// warnings as comments. Names are escaped for the language.
// Control characters and invalid UTF-8, which no language allows,
// are written as U+FFFD; in the identifiers of DOT as %XX, because different names must have different
// identifiers. Mermaid has no escapes for a few pairs of characters. U+2060, a character without width,
// separates these.
//
// The package does not know HTTP, JSON, Kubernetes, the content of objects, or the source of the
// graph: it stores names and attributes, each name once, and writes piece by piece.
//
// A Graph belongs to one goroutine.
package format
