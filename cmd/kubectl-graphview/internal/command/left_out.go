package command

import (
	"fmt"
	"io"

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
