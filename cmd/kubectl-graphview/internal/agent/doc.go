// Package agent serves the Model Context Protocol: tools for the graphs, their
// problems, the context of an object, its references, its dependents, and the changes. It knows the
// protocol, and runs the plugin's commands; it knows no graph and no server. The tools only
// read.
package agent
