// Package printable replaces characters of untrusted text that must not reach a terminal, a line of
// text or a file in one of the formats of package format.
//
// It knows only characters. Its function is safe for concurrent use.
package printable
