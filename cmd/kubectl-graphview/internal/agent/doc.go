// Package agent serves the Model Context Protocol: tools for the graphs, their
// problems, the context of an object, its references, and its dependents. It knows the
// protocol, and runs the plugin's commands; it knows no graph and no server. The tools only
// read.
package agent
