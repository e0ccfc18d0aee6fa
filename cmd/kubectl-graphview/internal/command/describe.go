package command

import (
	"github.com/spf13/cobra"

	"graphview.dev/client"
)

func (c *cli) described() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe [NAME]",
		Short: "Show how a GraphView is, on one screen",
		Long: `Show how a GraphView is, on one screen: its conditions, the objects that are degraded,
progressing or missing, the resources that cannot be read, and its warnings. What is
wrong comes first. kubectl describe graphview has each resource, and the Events.`,
		Example: `  kubectl graphview describe storefront -n shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := c.viewOnly(cmd, args)
			if err != nil {
				return err
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
			declared, err := v.declaration(cmd.Context())
			if err != nil {
				return v.remedy(cmd.Context(), err)
			}
			page := &description{view: declared, paint: c.paint}
			g, err := v.client.Summaries(cmd.Context(), v.namespace, v.name)
			if err != nil {
				page.unknown = v.remedy(cmd.Context(), err)
			} else {
				page.problems = c.problemsOf(v, g, search{})
				sortProblems(page.problems)
				for _, w := range g.Warnings() {
					if w.Type == client.AccessDenied {
						page.denied++
					}
				}
			}
			page.write(c.Out)
			return cmd.Context().Err()
		},
	}
	return cmd
}
