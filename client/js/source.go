// Package clientjs has the sources of the JavaScript client of the stream, for
// programs that serve them.
package clientjs

import "embed"

// Files are the client's modules, which need no others.
//
//go:embed *.js
var Files embed.FS
