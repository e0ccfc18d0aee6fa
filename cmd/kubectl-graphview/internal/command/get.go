package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// formats are those that the server has.
var formats = []string{"json", "dot", "mermaid", "graphml"}

func (c *cli) get() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "Write a graph as it is now, for another program",
		Example: `  kubectl graphview get storefront -o dot | dot -Tsvg >storefront.svg
  kubectl graphview get storefront -o mermaid
  kubectl graphview get storefront | jq '.actions | length'`,
		Args: between(1, 1, "the NAME of a GraphView"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return usagef(cmd, "-o %s: expected one of %s", format, strings.Join(formats, ", "))
			}
			v, err := c.open(args[0])
			if err != nil {
				return err
			}
			defer v.close()
			p := newProgress(v)
			stop := p.start(cmd.Context())
			defer stop()
			if err := v.client.Export(cmd.Context(), v.namespace, v.name, format, c.Out); err != nil {
				return v.remedy(cmd.Context(), err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", formats[0], "One of "+strings.Join(formats, ", "))
	return cmd
}
