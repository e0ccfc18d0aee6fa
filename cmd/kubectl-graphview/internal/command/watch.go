package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// The outputs of watch.
const (
	outputText = "text"
	outputJSON = "json"
)

func (c *cli) watch() *cobra.Command {
	var (
		output      string
		timestamps  bool
		changesOnly bool
	)
	cmd := &cobra.Command{
		Use:   "watch NAME",
		Short: "Follow a graph, a line for each change",
		Long: `Follow a graph: first what it is, then every change, until Ctrl-C. Where the
connection is lost it is made again and what changed meanwhile follows.

  +  is there now      ~  has changed      -  is gone      !  a warning

With -o json each line is a message of the stream protocol.`,
		Example: `  kubectl graphview watch storefront
  kubectl graphview watch storefront --changes-only --timestamps
  kubectl graphview watch storefront -o json | jq -c '.actions[]?'`,
		Args: between(1, 1, "the NAME of a GraphView"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != outputText && output != outputJSON {
				return usagef(cmd, "-o %s: expected %s or %s", output, outputText, outputJSON)
			}
			v, err := c.open(args[0])
			if err != nil {
				return err
			}
			defer v.close()
			f := v.follow()
			defer f.Close()
			return c.print(cmd.Context(), f, output == outputJSON, newJournal(c, v.namespace, f.Graph(), timestamps, changesOnly))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", outputText, "text, or json: the messages as the server sends them")
	cmd.Flags().BoolVar(&timestamps, "timestamps", false, "Begin each line with the time at which it came")
	cmd.Flags().BoolVar(&changesOnly, "changes-only", false, "Leave out what is there at the beginning")
	c.addWait(cmd)
	return cmd
}

// stamp is the beginning of a line.
func stamp(on bool) string {
	if !on {
		return ""
	}
	return fmt.Sprint(time.Now().Format("15:04:05.000"), " ")
}
