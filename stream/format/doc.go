// Package format writes a graph in the languages of programs that draw graphs
// or analyse them: DOT (Graphviz), Mermaid, and GraphML (NetworkX, Gephi, yEd).
//
// A [Graph] is what to write: the names of vertices, the arcs between them, and
// warnings. The caller adds them one by one, in any order, since [Graph.Write] sorts. So
// equal graphs give equal texts, which can be compared and committed.
//
// All three say the same: vertices grouped by namespace; arcs with their type;
// dashed, or with an attribute, what an arc leads to and is not in the graph;
// warnings as comments. Text that comes from names is escaped for its place in
// the language. Control characters and invalid UTF-8, which no language can carry,
// are written as U+FFFD; in the identifiers of DOT as %XX, because they
// have to differ where names do. Mermaid has no escapes for a few pairs, which
// are kept apart by U+2060, a character without width.
//
// The package does not know HTTP, JSON, Kubernetes, the content of objects, or how a
// graph is made: it holds names and attributes, each name once, and writes piece by piece.
//
// A Graph belongs to one goroutine.
package format
