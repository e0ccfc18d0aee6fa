package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/dashboard"
	"graphview.dev/stream/format"
)

// formats are the formats of the server, JSON first.
var formats = func() []string {
	names := []string{"json"}
	for _, f := range format.All() {
		names = append(names, string(f))
	}
	return names
}()

const formatHTML = "html"

// getFormats are the formats of the server, and a page that this program writes.
var getFormats = append(slices.Clone(formats), formatHTML)

func (c *cli) get() *cobra.Command {
	var as string
	from := source{cli: c, insert: first}
	cmd := &cobra.Command{
		Use:   "get NAME | get --local",
		Short: "Write a graph as it is now, for another program or as a page",
		Long: `Write a graph as it is now, for another program or as a page.

html is one file that draws the graph in a browser, also without a network. It has
the state of the objects and not their content.`,
		Example: `  kubectl graphview get storefront -o dot | dot -Tsvg >storefront.svg
  kubectl graphview get storefront -o mermaid
  kubectl graphview get storefront -o html >storefront.html
  kubectl graphview get storefront | jq '.actions | length'`,
		Args: from.args(between(1, 1, "the NAME of a GraphView, or --local")),
		RunE: from.run(func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(getFormats, as) {
				return usagef(cmd, "-o %s: expected one of %s", as, strings.Join(getFormats, ", "))
			}
			v, err := c.open(args[0])
			if err != nil {
				return err
			}
			defer v.close()
			p := newProgress(v)
			stop := p.start(cmd.Context())
			defer stop()
			if err := v.export(cmd.Context(), as); err != nil {
				return v.remedy(cmd.Context(), err)
			}
			return nil
		}),
	}
	cmd.Flags().StringVarP(&as, "output", "o", formats[0], "One of "+strings.Join(getFormats, ", "))
	c.addInferred(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

// export writes the graph. The server writes its formats of the whole graph only.
func (v *view) export(ctx context.Context, as string) error {
	if as == formats[0] || as != formatHTML && v.inferred {
		return v.client.Export(ctx, v.namespace, v.name, as, client.Options{ExcludeInferred: !v.inferred}, v.Out)
	}
	g, err := v.client.Snapshot(ctx, v.namespace, v.name, client.Options{Content: client.ContentSummary, ExcludeInferred: !v.inferred})
	switch {
	case err != nil:
		return err
	case as == formatHTML:
		return v.writePage(v.String(), g)
	}
	return formatted(g).Write(v.Out, format.Format(as))
}

// writePage writes a graph that has summaries, which are all that a page draws.
func (c *cli) writePage(name string, g *client.Graph) error {
	return dashboard.WriteSnapshot(c.Out, dashboard.Snapshot{View: name, Taken: time.Now(), Graph: messageOf(g)})
}
