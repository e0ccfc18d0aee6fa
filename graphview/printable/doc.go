// Package printable decides which characters of foreign text may reach a terminal, a line of text
// or a file of one of the formats of package format.
//
// It knows characters alone. Its function may be called by many goroutines at once.
package printable
