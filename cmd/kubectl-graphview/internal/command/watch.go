package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"graphview.dev/client"
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
		roots       []string
		reverse     bool
		depth       int
	)
	from := source{cli: c, parse: c.viewOnly, follows: true}
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Follow a graph, a line for each change",
		Long: `Follow a graph: first what it is, then every change, until Ctrl-C. Where the
connection is lost it is made again and what changed meanwhile follows.

  +  is there now      ~  has changed      -  is gone      !  a warning

With --root it is a part of the graph: the object and what it is made of, or with
--reverse what owns it and refers to it. With -o json each line is a message of the stream protocol.`,
		Example: `  kubectl graphview watch storefront
  kubectl graphview watch storefront --changes-only --timestamps
  kubectl graphview watch storefront --root deployment/web --depth 2
  kubectl graphview watch storefront -o json | jq -c '.actions[]?'`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			if output != outputText && output != outputJSON {
				return c.wrongOutput(cmd, output, []string{outputText, outputJSON})
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
			part, err := v.partOf(cmd, roots, reverse, depth)
			if err != nil {
				return err
			}
			f := v.followPart(client.ContentObject, part)
			defer f.Close()
			return c.print(cmd.Context(), f, output == outputJSON, newJournal(c, v.namespace, f.Graph(), timestamps, changesOnly))
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", outputText, "text, or json: the messages as the server sends them")
	cmd.Flags().BoolVar(&timestamps, "timestamps", false, "Begin each line with the time at which it came")
	cmd.Flags().BoolVar(&changesOnly, "changes-only", false, "Leave out what is there at the beginning")
	cmd.Flags().StringSliceVar(&roots, "root", nil, "KIND/NAME to follow, with what it leads to; everything else is left out")
	cmd.Flags().BoolVar(&reverse, "reverse", false, "With --root: what owns it and what refers to it instead")
	cmd.Flags().IntVar(&depth, "depth", 0, "With --root: the most references from it (0 = any)")
	c.addInferred(cmd)
	c.addWait(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

// partOf returns the part of the graph that flags select, nil for all of it.
func (v *view) partOf(cmd *cobra.Command, roots []string, reverse bool, depth int) (*client.Narrow, error) {
	if len(roots) == 0 {
		if reverse || depth != 0 {
			return nil, usagef(cmd, "--reverse and --depth go with --root KIND/NAME")
		}
		return nil, nil
	}
	part := &client.Narrow{Direction: directionOf(reverse), Depth: depth}
	for _, root := range roots {
		key, err := v.keyOf(root)
		if err != nil {
			return nil, fmt.Errorf("--root: %w", err)
		}
		part.Roots = append(part.Roots, key)
	}
	return part, nil
}

// stamp returns the time at the beginning of a line, "" if it is off.
func stamp(on bool) string {
	if !on {
		return ""
	}
	return fmt.Sprint(time.Now().Format("15:04:05.000"), " ")
}
