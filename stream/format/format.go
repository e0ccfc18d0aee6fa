package format

import (
	"fmt"
	"strings"
)

// Format is a language that graphs are written in.
type Format string

// The formats, by the names that users give them.
const (
	DOT     Format = "dot"
	Mermaid Format = "mermaid"
	GraphML Format = "graphml"
)

// All returns the formats in the order in which they are listed to people.
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

// MediaType is the format's, without parameters; all are UTF-8. GraphML has none
// that is registered, and is called what its tools call it.
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
