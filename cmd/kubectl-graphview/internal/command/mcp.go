package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/agent"
	"graphview.dev/cmd/kubectl-graphview/internal/offline"
)

func (c *cli) mcp(version string) *cobra.Command {
	from := source{cli: c, parse: c.agentArguments, follows: true, verdict: true}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Answer the questions of an AI agent about graphs",
		Long: `Serve the Model Context Protocol on standard input and output, for an agent that
starts this command. Its tools are graphs, problems, tree, explain, impact and changes. They
change nothing, and show what you may list and watch yourself. The problems of a graph are the
resource graphview://NAMESPACE/GRAPH, which an agent can subscribe to.

With --local there need be no operator: the one graph, named local, is made in this process, for
as long as the agent runs it. With --from the graph is that of manifests, and follows their files.`,
		Example: `  claude mcp add graphview -- kubectl graphview mcp --context=staging
  claude mcp add graphview -- kubectl graphview mcp --local -n shop
  claude mcp add graphview -- kubectl graphview mcp --from manifests/`,
		RunE: from.run(func(cmd *cobra.Command, _ target) error {
			settings := inherited(cmd.InheritedFlags())
			return agent.Serve(cmd.Context(), agent.Options{Version: version, In: c.In, Out: c.Out, Follow: c.followGraph, Run: func(ctx context.Context, args []string) (string, map[string]string, error) {
				return c.answer(ctx, version, slices.Concat(args[:1], settings, args[1:]))
			}})
		}),
	}
	from.addFlags(cmd)
	return cmd
}

// agentArguments reads no arguments. Standard input has the questions of the agent, and no manifests.
func (c *cli) agentArguments(cmd *cobra.Command, args []string) (target, error) {
	if slices.Contains(slices.Concat(c.local.files.from, c.local.files.with), offline.Stdin) {
		return target{}, usagef(cmd, "standard input is that of the agent: name files or folders")
	}
	return c.nothing("")(cmd, args)
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

// followGraph calls changed for each revision of a graph.
func (c *cli) followGraph(ctx context.Context, namespace, graph string, changed func()) error {
	v, err := c.open(graph)
	if err != nil {
		return err
	}
	defer v.close()
	if !c.local.serves() {
		v.namespace = namespace
	}
	f := v.client.Watch(v.namespace, v.name, client.Options{Content: client.ContentSummary})
	defer f.Close()
	for {
		m, err := f.Receive(ctx)
		if err != nil {
			return err
		}
		if m.Rev != "" {
			changed()
		}
	}
}

// answer returns the output of a command with its errors, and without its progress, and the revisions of the graphs
// that it has read. Problems that it found are no error.
func (c *cli) answer(ctx context.Context, version string, args []string) (text string, revisions map[string]string, err error) {
	var said bytes.Buffer
	served, mapper := c.local, c.mapper
	c = newCLI(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &said, ErrOut: &said})
	c.quiet, c.local = true, localView{
		cluster: served.cluster, rights: served.rights, view: served.view, namespaces: served.namespaces, manifests: served.manifests, laid: served.laid,
	}
	if served.manifests != nil {
		c.mapper = mapper // no kubeconfig is read
	}
	c.revisions = &sync.Map{}
	err = c.execute(ctx, version, args)
	revisions = map[string]string{}
	c.revisions.Range(func(name, revision any) bool {
		revisions[fmt.Sprint(name)] = fmt.Sprint(revision)
		return true
	})
	if err == nil || errors.Is(err, errFound) {
		return said.String(), revisions, nil
	}
	return said.String(), revisions, errors.New(errorText(err))
}
