package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graphview.dev/stream/format"
)

// formats are those that the server has, JSON first.
var formats = func() []string {
	names := []string{"json"}
	for _, f := range format.All() {
		names = append(names, string(f))
	}
	return names
}()

func (c *cli) get() *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "get NAME",
		Short: "Write a graph as it is now, for another program",
		Example: `  kubectl graphview get storefront -o dot | dot -Tsvg >storefront.svg
  kubectl graphview get storefront -o mermaid
  kubectl graphview get storefront | jq '.actions | length'`,
		Args: between(1, 1, "the NAME of a GraphView"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, as) {
				return usagef(cmd, "-o %s: expected one of %s", as, strings.Join(formats, ", "))
			}
			v, err := c.open(args[0])
			if err != nil {
				return err
			}
			defer v.close()
			p := newProgress(v)
			stop := p.start(cmd.Context())
			defer stop()
			if err := v.client.Export(cmd.Context(), v.namespace, v.name, as, c.Out); err != nil {
				return v.remedy(cmd.Context(), err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&as, "output", "o", formats[0], "One of "+strings.Join(formats, ", "))
	return cmd
}
