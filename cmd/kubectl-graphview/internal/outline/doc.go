// Package outline lays a graph out as a tree, for a terminal: from the roots, first to
// owned objects, then to used ones, then to named ones.
//
// A graph is no tree. A vertex with several incoming arcs is drawn with its subtree
// once, under its owner if it has one, and only named in other lines; so the
// outline of any graph ends, with cycles or without, and has a line for each arc
// that it follows and for each root.
//
// It is pure: the caller gives the names of vertices, their health and the colours
// of lines. Its functions may be called by several goroutines.
package outline
