package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"graphview.dev/client"
)

// versions is the output of version.
type versions struct {
	Plugin   string `json:"plugin"`
	Operator string `json:"operator,omitempty"`
	// Error says why the version of the operator is not known.
	Error string `json:"error,omitempty"`
}

// version prints the versions of the plugin and the operator.
func (c *cli) version(own string) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the plugin and the operator",
		Long: `Print the version of this plugin and of the operator that serves the graphs, if there is one. A
plugin and an operator of different versions understand each other in most cases; if a command fails,
use the plugin of the operator's version first.`,
		Example: `  kubectl graphview version
  kubectl graphview version -o json`,
		Args: between(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{Plugin: own}
			switch served, err := c.serverVersion(cmd.Context()); {
			case client.IsNotServed(err):
				v.Error = "no operator serves graphs here"
			case err != nil:
				v.Error = errorText(bare(err))
			default:
				v.Operator = cmp.Or(served, "unknown: older than this plugin")
			}
			switch output {
			case outputJSON, outputYAML:
				return c.writeObject(output, v)
			case "":
			default:
				return c.wrongOutput(cmd, output, []string{outputJSON, outputYAML})
			}
			fmt.Fprintf(c.Out, "plugin    %s\noperator  %s\n", v.Plugin, cmp.Or(v.Operator, "not known: "+v.Error))
			if v.Operator != "" && v.Operator != own {
				fmt.Fprintln(c.ErrOut, "They differ. If a command fails, use the plugin of the operator's version.")
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "One of "+outputJSON+", "+outputYAML)
	return cmd
}

// serverVersion asks the operator for its version.
func (c *cli) serverVersion(ctx context.Context) (string, error) {
	v, err := c.open("")
	if err != nil {
		return "", err
	}
	defer v.close()
	served, err := v.client.ServerVersion(ctx)
	if about, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("connect to %s: %w", v.config.Host, about.Err) // without a long URL
	}
	return served, err
}
