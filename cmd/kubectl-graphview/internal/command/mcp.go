package command

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/cmd/kubectl-graphview/internal/agent"
)

func (c *cli) mcp(version string) *cobra.Command {
	from := source{cli: c, parse: c.nothing(""), withoutManifests: true}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Answer the questions of an AI agent about graphs",
		Long: `Serve the Model Context Protocol on standard input and output, for an agent that
starts this command. Its tools are graphs, problems, tree, explain and impact. They
change nothing, and show what you may list and watch yourself.

With --local there need be no operator: the one graph, named local, is made in this process, for
as long as the agent runs it.`,
		Example: `  claude mcp add graphview -- kubectl graphview mcp --context=staging
  claude mcp add graphview -- kubectl graphview mcp --local -n shop`,
		RunE: from.run(func(cmd *cobra.Command, _ target) error {
			settings := inherited(cmd.InheritedFlags())
			return agent.Serve(cmd.Context(), agent.Options{Version: version, In: c.In, Out: c.Out, Run: func(ctx context.Context, args []string) (string, error) {
				return c.answer(ctx, version, slices.Concat(args[:1], settings, args[1:]))
			}})
		}),
	}
	from.addFlags(cmd)
	return cmd
}

// inherited returns the flags of kubectl that were set. The last one of a name wins.
func inherited(flags *pflag.FlagSet) []string {
	var set []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		values := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		for _, value := range values {
			set = append(set, "--"+f.Name+"="+value)
		}
	})
	return set
}

// answer returns the output of a command with its errors, and without its progress.
// Problems that it found are no error.
func (c *cli) answer(ctx context.Context, version string, args []string) (string, error) {
	var said bytes.Buffer
	served := c.local
	c = newCLI(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &said, ErrOut: &said})
	c.quiet, c.local = true, localView{cluster: served.cluster, rights: served.rights, view: served.view, namespaces: served.namespaces}
	err := c.execute(ctx, version, args)
	if err == nil || errors.Is(err, errFound) {
		return said.String(), nil
	}
	return said.String(), errors.New(errorText(err))
}
