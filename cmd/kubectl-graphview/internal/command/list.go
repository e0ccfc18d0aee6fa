package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
)

func (c *cli) list() *cobra.Command {
	var (
		allNamespaces bool
		output        string
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the graphs there are",
		Long: `List the graphs of the namespace, or with -A of all. The counts are those of the
GraphView, before anybody's rights.`,
		Example: `  kubectl graphview list -A
  kubectl graphview list -A --all-links`,
		Args: func(cmd *cobra.Command, args []string) error {
			_, err := c.nothing("; tree shows one graph")(cmd, args)
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && !slices.Contains(answerOutputs, output) {
				return c.wrongOutput(cmd, output, answerOutputs)
			}
			if c.allLinks {
				return c.listLinks(cmd.Context(), output, allNamespaces)
			}
			graphs, err := c.listGraphs(cmd.Context(), allNamespaces)
			if err != nil {
				return err
			}
			if output == outputJSON || output == outputYAML || output == outputName {
				all := []listed{}
				for i := range graphs {
					all = append(all, listedOf("", &graphs[i]))
				}
				return c.writeListed(output, all)
			}
			if len(graphs) == 0 {
				fmt.Fprintln(c.ErrOut, "There are no graphs here. See kubectl get graphviews -A.")
				return nil
			}
			out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
			fmt.Fprintln(out, graphColumns)
			for i := range graphs {
				fmt.Fprintln(out, graphRow(&graphs[i]))
			}
			return out.Flush()
		},
	}
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "List the graphs of all namespaces")
	addOutput(cmd, &output)
	c.addLink(cmd)
	c.addAllLinks(cmd)
	return cmd
}

// writeListed writes graphs as -o name, json or yaml.
func (c *cli) writeListed(output string, all []listed) error {
	if output != outputName {
		return c.writeObject(output, all)
	}
	for i := range all {
		fmt.Fprintln(c.Out, printable.Text("graph.stream.graphview.dev/"+all[i].Name))
	}
	return nil
}

const graphColumns = "NAMESPACE\tNAME\tREADY\tOBJECTS\tREFERENCES"

func graphRow(g *client.Listed) string {
	return row(g.Namespace, g.Name, strconv.FormatBool(g.Synced), strconv.Itoa(g.Vertices), strconv.Itoa(g.Arcs))
}

// listGraphs returns the graphs of the namespace, or of all.
func (c *cli) listGraphs(ctx context.Context, allNamespaces bool) ([]client.Listed, error) {
	v, err := c.open("")
	if err != nil {
		return nil, err
	}
	defer v.close()
	namespace := v.namespace
	if allNamespaces {
		namespace, v.everywhere = "", true
	}
	graphs, err := v.client.List(ctx, namespace)
	if err != nil {
		return nil, v.remedy(ctx, err)
	}
	return graphs, nil
}

// listLinks prints the graphs of all members of a fleet. The error is errFound if one does not
// answer.
func (c *cli) listLinks(ctx context.Context, output string, allNamespaces bool) error {
	answers, err := askLinks(ctx, c, func(ctx context.Context, one *cli) ([]client.Listed, error) {
		return one.listGraphs(ctx, allNamespaces)
	})
	if err != nil {
		return err
	}
	var found error
	if output == outputJSON || output == outputYAML || output == outputName {
		all := []listed{}
		for _, a := range answers {
			if a.err != nil {
				found = errFound
				all = append(all, listed{Cluster: a.link, Message: errorText(a.err)})
			}
			for i := range a.answer {
				all = append(all, listedOf(a.link, &a.answer[i]))
			}
		}
		return errors.Join(c.writeListed(output, all), found)
	}
	out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(out, "CLUSTER\t"+graphColumns)
	for _, a := range answers {
		if a.err != nil {
			found = errFound
			fmt.Fprintf(out, "%s\t-\t-\tunreachable\t-\t-\n", a.link)
			fmt.Fprintf(c.ErrOut, "%s: %s\n", a.link, errorText(a.err))
		}
		for i := range a.answer {
			fmt.Fprintln(out, a.link+"\t"+graphRow(&a.answer[i]))
		}
	}
	return errors.Join(out.Flush(), found)
}
