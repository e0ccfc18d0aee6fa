// Package run starts `make run` and `make run-fleet`, opens the page whose address they print, types
// the commands that they print, and ends them with Ctrl-C. It needs the programs of `make build`.
package run
