package command

import (
	"cmp"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
)

const outputTable = "table"

// writeTable writes a line for each object of a graph that has summaries.
func (c *cli) writeTable(namespace string, g *client.Graph) error {
	k := c.newKinds(namespace, g)
	rows := make([][]string, 0, len(g.Vertices))
	for key, vertex := range g.Vertices {
		h, ready, age := healthIn(g, key), "-", "-"
		if h.Counted {
			ready = fmt.Sprintf("%d/%d", h.Ready, h.Wanted)
		}
		if s := vertex.Summary; s != nil && s.Created != 0 {
			age = duration.HumanDuration(time.Since(time.Unix(s.Created, 0)))
		}
		state := string(h.State)
		if h.State == health.Unknown {
			state = "-"
		}
		rows = append(rows, []string{k.name(key), ready, state, cmp.Or(h.Reason, "-"), age})
	}
	slices.SortFunc(rows, slices.Compare)
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(out, "OBJECT\tREADY\tHEALTH\tREASON\tAGE")
	for _, cells := range rows {
		fmt.Fprintln(out, row(cells...))
	}
	return out.Flush()
}
