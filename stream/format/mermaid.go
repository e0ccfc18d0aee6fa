package format

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graphview.dev/graphview/printable"
)

// mermaidArrows maps types of arcs to arrows.
var mermaidArrows = map[string]string{"or": "==>", "r": "-->", "t": "-.->"}

// mermaidClasses maps "missing" and states of health other than OK to styles.
var mermaidClasses = map[string]string{
	"missing":     "stroke-dasharray:5 5",
	"degraded":    "stroke:#c0392b,stroke-width:3px",
	"progressing": "stroke:#b7791f",
	"terminating": "stroke:#7f8c8d",
	"suspended":   "stroke:#7f8c8d",
}

// writeMermaid writes a flowchart with a subgraph for each namespace. Mermaid
// refuses long texts, so identifiers are indexes in the order.
func writeMermaid(out *bufio.Writer, p *plan) {
	out.WriteString("flowchart LR\n")
	for _, line := range p.comments() {
		fmt.Fprintf(out, "%%%% %s\n", mermaidComment.Replace(line))
	}
	used := map[string]bool{}
	subgraphs := 0
	p.namespaces(func(namespace string, from, to int) {
		if namespace != "" {
			fmt.Fprintf(out, "subgraph s%d[\"%s\"]\n", subgraphs, mermaidEscaped(namespace))
			subgraphs++
		}
		for place := from; place < to; place++ {
			class := p.healthAt(place)
			if p.missing(place) {
				class = "missing"
			}
			if mermaidClasses[class] == "" {
				class = ""
			}
			if class != "" {
				used[class] = true
				class = ":::" + class
			}
			key := p.at(place)
			fmt.Fprintf(out, "n%d[\"%s<br/>%s\"]%s\n", place, mermaidEscaped(key.Name), mermaidEscaped(key.title()), class)
		}
		if namespace != "" {
			out.WriteString("end\n")
		}
	})
	for _, a := range p.arcs {
		arrow, ok := mermaidArrows[a.kind]
		if !ok {
			arrow = "-->"
		}
		label := strings.ReplaceAll(mermaidEscaped(a.label()), "#32;", " ")
		if absence := a.absence(); absence != "" {
			label += " " + absence
		}
		fmt.Fprintf(out, "n%d %s|\"%s\"| n%d\n", p.rank[a.from], arrow, label, p.rank[a.to])
	}
	for _, class := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(out, "classDef %s %s\n", class, mermaidClasses[class])
	}
}

// mermaidComment escapes directives in a comment.
var mermaidComment = strings.NewReplacer("%", "#37;", "{", "#123;", "}", "#125;")

// joiner is invisible and separates characters that have a meaning together.
const joiner = '\u2060'

// mermaidEscaped writes all characters but letters, digits and harmless ones as Mermaid's entities: in a label
// Mermaid interprets Markdown and HTML, and looks for
// keywords around colons. Entities do not help against formulas, line
// breaks and icons, which Mermaid looks for after it has resolved them.
func mermaidEscaped(text string) string {
	var escaped strings.Builder
	text = printable.Text(text)
	for i, r := range text {
		before, rest := text[:i], text[i:]
		if r == '$' && strings.HasSuffix(before, "$") || r == 'n' && strings.HasSuffix(before, `\`) ||
			strings.HasPrefix(rest, "fa-") && strings.HasSuffix(before, ":") {
			escaped.WriteRune(joiner)
		}
		switch {
		case r >= 0x80, 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '.', r == '/':
			escaped.WriteRune(r)
		default:
			fmt.Fprintf(&escaped, "#%d;", r)
		}
	}
	return escaped.String()
}
