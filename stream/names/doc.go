// Package names has the name by which a graph is served.
//
// It does not know views, users or requests. Its values are immutable.
package names
