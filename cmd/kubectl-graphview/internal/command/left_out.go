package command

import (
	"fmt"
	"io"
	"strings"

	"graphview.dev/client"
	"graphview.dev/graphview/wording"
)

// answerFrom describes the graph behind an answer. about reports whether the answer is about the references to an
// object.
func answerFrom(v *view, g *client.Graph, about bool) *wording.Answer {
	return &wording.Answer{
		Of: v.String(), Incomplete: !g.Synced, Declared: !v.inferred, Here: about && v.local.serves() && v.local.file == "" && len(v.local.namespaces) > 0, Gaps: gapsOf(g),
	}
}

// gapsOf returns the warnings of a graph.
func gapsOf(g *client.Graph) []wording.Gap {
	var all []wording.Gap
	for _, w := range g.Warnings() {
		key := w.Key()
		all = append(all, wording.Gap{Type: w.Type, Message: w.Message, Group: key.Group, Resource: key.Resource, Namespace: key.Namespace})
	}
	return all
}

// leftOut prints the gaps of an answer, after an empty line.
func (c *cli) leftOut(out io.Writer, lines []string) {
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, line)
	}
}

// gapLines are the lines about gaps of several graphs. Equal lines are merged.
type gapLines struct {
	texts []string
	views map[string][]string // by text
}

func (l *gapLines) add(view string, lines []string) {
	if l.views == nil {
		l.views = map[string][]string{}
	}
	for _, line := range lines {
		if l.views[line] == nil {
			l.texts = append(l.texts, line)
		}
		l.views[line] = append(l.views[line], view)
	}
}

// lines returns a line for each text, with the names of its graphs if there are several.
func (l *gapLines) lines(several bool) []string {
	if !several {
		return l.texts
	}
	all := make([]string, 0, len(l.texts))
	for _, text := range l.texts {
		views := l.views[text]
		names := strings.Join(views[:min(len(views), mostSimilar)], ", ")
		if more := len(views) - mostSimilar; more > 0 {
			names += " and " + count(more, "more graph")
		}
		all = append(all, names+": "+text)
	}
	return all
}
