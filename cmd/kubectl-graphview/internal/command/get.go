package command

import (
	"bytes"
	"context"
	"encoding/json"
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

// getFormats are the formats of the server, a table, names, and a page that this program writes.
var getFormats = slices.Concat([]string{outputTable, outputWide, outputName}, formats, []string{outputYAML, formatHTML})

func (c *cli) get() *cobra.Command {
	var as string
	from := source{cli: c, parse: c.viewOnly}
	cmd := &cobra.Command{
		Use:   "get [NAME]",
		Short: "Write the objects of a graph, or the graph for another program or as a page",
		Long: `Write a graph as it is now: a table of its objects, or the graph for another program or as a page.

json and yaml are the message of the stream protocol that makes the graph.

html is one file that draws the graph in a browser, also without a network. It has
the state of the objects and not their content.`,
		Example: `  kubectl graphview get storefront -o dot | dot -Tsvg >storefront.svg
  kubectl graphview get storefront -o mermaid
  kubectl graphview get storefront -o html >storefront.html
  kubectl graphview get storefront -o json | jq '.actions | length'`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			if !slices.Contains(getFormats, as) {
				return c.wrongOutput(cmd, as, getFormats)
			}
			name, err := c.only(cmd.Context(), cmd, t)
			if err != nil {
				return err
			}
			v, err := c.open(name)
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
	cmd.Flags().StringVarP(&as, "output", "o", outputTable, "One of "+strings.Join(getFormats, ", "))
	c.addInferred(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

// export writes the graph. The server writes its formats of the whole graph only.
func (v *view) export(ctx context.Context, as string) error {
	ours := slices.Contains([]string{outputTable, outputWide, outputName, outputYAML, formatHTML}, as)
	if as == formats[0] || !ours && v.inferred {
		return v.client.Export(ctx, v.namespace, v.name, as, client.Options{ExcludeInferred: !v.inferred}, v.Out)
	}
	if as == outputYAML {
		var text bytes.Buffer
		if err := v.client.Export(ctx, v.namespace, v.name, formats[0], client.Options{ExcludeInferred: !v.inferred}, &text); err != nil {
			return err
		}
		return v.writeObject(outputYAML, json.RawMessage(text.Bytes()))
	}
	g, err := v.client.Snapshot(ctx, v.namespace, v.name, client.Options{Content: client.ContentSummary, ExcludeInferred: !v.inferred})
	switch {
	case err != nil:
		return err
	case as == formatHTML:
		return v.writePage(v.String(), g)
	case as == outputName:
		return v.writeAnswer(as, v, g)
	case as == outputTable, as == outputWide:
		return v.writeTable(v.namespace, g)
	}
	return formatted(g).Write(v.Out, format.Format(as))
}

// writePage writes a graph that has summaries, which are all that a page draws.
func (c *cli) writePage(name string, g *client.Graph) error {
	return dashboard.WriteSnapshot(c.Out, dashboard.Snapshot{View: name, Taken: time.Now(), Graph: messageOf(g)})
}
