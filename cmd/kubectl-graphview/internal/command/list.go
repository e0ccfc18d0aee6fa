package command

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (c *cli) list() *cobra.Command {
	var allNamespaces bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the graphs there are",
		Long: `List the graphs of the namespace, or with -A of all. The counts are those of the
GraphView, before anybody's rights.`,
		Example: `  kubectl graphview list -A`,
		Args:    between(0, 0, "no arguments; -n names the namespace"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := c.open("")
			if err != nil {
				return err
			}
			defer v.close()
			namespace := v.namespace
			if allNamespaces {
				namespace = ""
			}
			graphs, err := v.client.List(cmd.Context(), namespace)
			if err != nil {
				return v.remedy(cmd.Context(), err)
			}
			if len(graphs) == 0 {
				fmt.Fprintln(c.ErrOut, "There are no graphs here. See kubectl get graphviews -A.")
				return nil
			}
			out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
			fmt.Fprintln(out, "NAMESPACE\tNAME\tCOMPLETE\tOBJECTS\tREFERENCES")
			for _, g := range graphs {
				fmt.Fprintln(out, strings.Join([]string{g.Namespace, g.Name, strconv.FormatBool(g.Synced), strconv.Itoa(g.Vertices), strconv.Itoa(g.Arcs)}, "\t"))
			}
			return out.Flush()
		},
	}
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "List the graphs of all namespaces")
	c.addLink(cmd)
	return cmd
}
