// Package local tests `kubectl graphview --local` in a cluster without an operator: what each user is
// shown, and that the plugin makes no request that the user may not make.
package local
