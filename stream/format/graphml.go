package format

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"strings"

	"graphview.dev/graphview/printable"
)

// graphMLKeys declare the attributes: their elements, names and types.
var graphMLKeys = []struct{ id, of, name, kind string }{
	{"label", "node", "label", "string"},
	{"group", "node", "group", "string"},
	{"version", "node", "version", "string"},
	{"resource", "node", "resource", "string"},
	{"namespace", "node", "namespace", "string"},
	{"name", "node", "name", "string"},
	{"missing", "node", "missing", "boolean"},
	{"health", "node", "health", "string"},
	{"type", "edge", "type", "string"},
	{"controller", "edge", "controller", "boolean"},
	{"blockOwnerDeletion", "edge", "blockOwnerDeletion", "boolean"},
	{"leadsNowhere", "edge", "missing", "boolean"},
	{"outside", "edge", "outside", "string"},
	{"optional", "edge", "optional", "boolean"},
	{"fields", "edge", "fields", "string"},
	{"words", "edge", "words", "string"},
}

// writeGraphML writes attributes that are true or not empty. Identifiers are
// indexes in the order, since GraphML has only simple names for them.
func writeGraphML(out *bufio.Writer, p *plan) {
	out.WriteString(xml.Header)
	for _, line := range p.comments() {
		fmt.Fprintf(out, "<!-- %s -->\n", graphMLComment.Replace(line))
	}
	out.WriteString(`<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	for _, key := range graphMLKeys {
		fmt.Fprintf(out, "  <key id=%q for=%q attr.name=%q attr.type=%q/>\n", key.id, key.of, key.name, key.kind)
	}
	out.WriteString(`  <graph id="graph" edgedefault="directed">` + "\n")
	for place := range p.order {
		key := p.at(place)
		fmt.Fprintf(out, `    <node id="n%d">`, place)
		graphMLData(out, "label", key.Name)
		graphMLData(out, "group", key.Group)
		graphMLData(out, "version", key.Version)
		graphMLData(out, "resource", key.Resource)
		graphMLData(out, "namespace", key.Namespace)
		graphMLData(out, "name", key.Name)
		graphMLFlag(out, "missing", p.missing(place))
		graphMLData(out, "health", p.healthAt(place))
		out.WriteString("</node>\n")
	}
	for _, a := range p.arcs {
		fmt.Fprintf(out, `    <edge source="n%d" target="n%d">`, p.rank[a.from], p.rank[a.to])
		graphMLData(out, "type", a.kind)
		graphMLFlag(out, "controller", a.controller)
		graphMLFlag(out, "blockOwnerDeletion", a.blocking)
		graphMLFlag(out, "leadsNowhere", a.missing)
		graphMLData(out, "outside", a.outside)
		graphMLFlag(out, "optional", a.optional)
		graphMLData(out, "fields", a.fields)
		graphMLData(out, "words", a.words)
		out.WriteString("</edge>\n")
	}
	out.WriteString("  </graph>\n</graphml>\n")
}

func graphMLData(out *bufio.Writer, key, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(out, "<data key=%q>", key)
	// An error of out is returned by its Flush.
	_ = xml.EscapeText(out, []byte(printable.Text(text)))
	out.WriteString("</data>")
}

func graphMLFlag(out *bufio.Writer, key string, set bool) {
	if set {
		graphMLData(out, key, "true")
	}
}

// graphMLComment escapes the end of a comment.
var graphMLComment = strings.NewReplacer("--", "-\u2010")
