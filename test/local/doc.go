// Package local tests `kubectl graphview --local` in a cluster without an operator: the graph of each
// user, and that the plugin makes no request that the user may not make.
package local
