package format

import (
	"bufio"
	"fmt"
	"net/url"
	"strings"

	"graphview.dev/graphview/printable"
)

// dotStyles maps types of arcs to styles.
var dotStyles = map[string]string{"or": "bold", "r": "solid", "t": "dotted"}

// dotHealth maps states of health other than OK to attributes of a vertex.
var dotHealth = map[string]string{
	"degraded":    `, health=degraded, color="#c0392b", penwidth=2`,
	"progressing": `, health=progressing, color="#b7791f"`,
	"terminating": `, health=terminating, color="#7f8c8d"`,
	"suspended":   `, health=suspended, color="#7f8c8d"`,
	"ok":          `, health=ok`,
}

// writeDOT writes a cluster for each namespace. Identifiers are the keys of vertices,
// so that two texts differ only in the differences of their graphs.
func writeDOT(out *bufio.Writer, p *plan) {
	for _, line := range p.comments() {
		fmt.Fprintf(out, "// %s\n", line)
	}
	fmt.Fprintf(out, "digraph %s {\n", dotText(p.Name))
	out.WriteString("  graph [rankdir=LR]\n  node [shape=box, style=rounded]\n")
	p.namespaces(func(namespace string, from, to int) {
		indent := "  "
		if namespace != "" {
			fmt.Fprintf(out, "  subgraph \"cluster_%s\" {\n    label=%s\n", url.PathEscape(namespace), dotText(namespace))
			indent = "    "
		}
		for place := from; place < to; place++ {
			key, more := p.at(place), dotHealth[p.healthAt(place)]
			if p.missing(place) {
				more = `, style="rounded,dashed"`
			}
			// The two characters \n are a new line in a label.
			fmt.Fprintf(out, "%s%s [label=\"%s\\n%s\"%s]\n", indent, key.dotID(), dotEscaped(key.Name), dotEscaped(key.title()), more)
		}
		if namespace != "" {
			out.WriteString("  }\n")
		}
	})
	for _, a := range p.arcs {
		style, ok := dotStyles[a.kind]
		if !ok {
			style = "solid"
		}
		if a.missing {
			style += ",dashed"
		}
		fmt.Fprintf(out, "  %s -> %s [label=%s, style=\"%s\"", p.keys[a.from].dotID(), p.keys[a.to].dotID(), dotText(a.label()), style)
		if absence := a.absence(); absence != "" && absence != "missing" {
			fmt.Fprintf(out, ", absence=%s", absence)
		}
		if a.fields != "" {
			fmt.Fprintf(out, ", tooltip=%s", dotText(a.fields))
		}
		out.WriteString("]\n")
	}
	out.WriteString("}\n")
}

// dotID returns a quoted identifier. Its parts are escaped as in a URL, so that different keys
// have different identifiers, without characters that DOT interprets.
func (k *Key) dotID() string {
	var id strings.Builder
	id.WriteByte('"')
	for i, part := range []string{k.Group, k.Version, k.Resource, k.Namespace, k.Name} {
		if i > 0 {
			id.WriteByte('/')
		}
		id.WriteString(url.PathEscape(part))
	}
	id.WriteByte('"')
	return id.String()
}

func dotText(text string) string { return `"` + dotEscaped(text) + `"` }

// dotEscapes escapes a label, in which DOT interprets backslashes and the entities of HTML.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)

func dotEscaped(text string) string { return dotEscapes.Replace(printable.Text(text)) }
