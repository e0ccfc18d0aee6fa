// Package outline lays a graph out as a tree, for a terminal: from where one
// begins, what is owned first, then what is used, then what is named.
//
// A graph is no tree. A vertex that several lead to is drawn with all that is
// below it once, under its owner where it has one, and named elsewhere; so the
// outline of any graph ends, with cycles or without, and has a line for each arc
// that it follows and one for each place where it begins.
//
// It is pure: what vertices are called, how they are and how lines are coloured
// it is told. Its functions may be called by many at once.
package outline
