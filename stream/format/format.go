package format

import (
	"fmt"
	"strings"
)

// Format is a language for graphs.
type Format string

// The formats by their names for users.
const (
	DOT     Format = "dot"
	Mermaid Format = "mermaid"
	GraphML Format = "graphml"
)

// All returns the formats in the order of lists for users.
func All() []Format { return []Format{DOT, Mermaid, GraphML} }

// Parse returns a format by its name. The error lists the names.
func Parse(name string) (Format, error) {
	var names []string
	for _, f := range All() {
		if string(f) == name {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("unknown format %q; there are %s", name, strings.Join(names, ", "))
}

// MediaType returns the media type without parameters; all formats are UTF-8. GraphML has no registered
// type, and gets the type that its tools use.
func (f Format) MediaType() string {
	switch f {
	case DOT:
		return "text/vnd.graphviz"
	case Mermaid:
		return "text/vnd.mermaid"
	case GraphML:
		return "application/graphml+xml"
	default:
		return ""
	}
}
