package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

// version prints the versions of the plugin and the operator.
func (c *cli) version(own string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the plugin and the operator",
		Long: `Print the version of this plugin and of the operator that serves the graphs. A plugin and an
operator of different versions understand each other in most cases; if a command fails, use the
plugin of the operator's version first.`,
		Example: `  kubectl graphview version`,
		Args:    between(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(c.Out, "plugin    %s\n", own)
			v, err := c.open("")
			if err != nil {
				return err
			}
			defer v.close()
			served, err := v.client.ServerVersion(cmd.Context())
			switch {
			case err != nil:
				return v.remedy(cmd.Context(), err)
			case served == "":
				served = "unknown: older than this plugin"
			}
			fmt.Fprintf(c.Out, "operator  %s\n", served)
			if served != own {
				fmt.Fprintln(c.ErrOut, "They differ. If a command fails, use the plugin of the operator's version.")
			}
			return nil
		},
	}
}
