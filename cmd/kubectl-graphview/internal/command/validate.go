package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"graphview.dev/cmd/kubectl-graphview/internal/manifest"
)

func (c *cli) validate() *cobra.Command {
	var (
		files     []string
		recursive bool
		o         manifest.Options
	)
	cmd := &cobra.Command{
		Use:   "validate -f FILE...",
		Short: "Check manifests without a server",
		Long: `Check manifests as a server with this version of the operator would: their form,
the rules of the CustomResourceDefinitions, and every expression, selector and
JSONPath. No server is asked. Other kinds are passed over, so whole folders can be
checked.

What is wrong is written to standard output, a line each: FILE:LINE: OBJECT:
FIELD: what. Exit codes: 0 all is well, 1 something is wrong, 2 a file cannot be
read.`,
		Example: `  kubectl graphview validate -f storefront.yaml
  kubectl graphview validate -f manifests/ -R
  kustomize build . | kubectl graphview validate -f -`,
		Args: func(cmd *cobra.Command, args []string) error {
			// validate a.yaml b.yaml, as shells expand -f *.yaml
			if len(files) == 0 {
				return usagef(cmd, "expected -f FILE")
			}
			files = append(files, args...)
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := manifest.Files(files, recursive)
			if err != nil {
				return usagef(cmd, "%w", err)
			}
			checker, err := manifest.New(o)
			if err != nil {
				return err
			}
			var total manifest.Result
			for _, name := range names {
				text, err := manifest.Read(name, c.In)
				if err != nil {
					return usagef(cmd, "%w", err)
				}
				if name == manifest.Stdin {
					name = "<stdin>"
				}
				r := checker.Check(cmd.Context(), name, text)
				for _, p := range r.Problems {
					fmt.Fprintln(c.Out, p)
				}
				total.Problems = append(total.Problems, r.Problems...)
				total.Checked += r.Checked
				total.Skipped += r.Skipped
			}
			fmt.Fprintf(c.ErrOut, "%s checked, %s, %d of other kinds\n", count(total.Checked, "object"), count(len(total.Problems), "problem"), total.Skipped)
			if len(total.Problems) > 0 {
				return errFound
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "Files or folders with manifests; - is standard input")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "Folders below folders, too")
	cmd.Flags().BoolVar(&o.RequireServiceAccount, "require-service-account", true, "Every GraphView names a ServiceAccount, as the operator wants it by default; false for an operator with --require-service-account=false")
	return cmd
}
