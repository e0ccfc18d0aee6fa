package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completeWithin bounds the wait of a shell for names.
const completeWithin = 5 * time.Second

// complete lets a shell complete names of graphs and of objects in them, and the
// values of flags.
func (c *cli) complete(root *cobra.Command) {
	type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)
	fixed := func(values ...string) completion {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return values, cobra.ShellCompDirectiveNoFileComp
		}
	}
	outputs := map[string][]string{"get": getFormats, "watch": {outputText, outputJSON}, "query": queryOutputs, "problems": problemOutputs}
	for _, cmd := range root.Commands() {
		cmd.ValidArgsFunction = fixed()
		switch cmd.Name() {
		case "get", "watch", "problems", "describe":
			cmd.ValidArgsFunction = c.completeNames(1)
		case "tree", "explain", "changes":
			cmd.ValidArgsFunction = c.completeNames(2)
		}
		if values, ok := outputs[cmd.Name()]; ok {
			// The error means that there is no such flag, or that it is registered twice.
			_ = cmd.RegisterFlagCompletionFunc("output", fixed(values...))
		}
	}
}

// completeNames completes the name of a graph, and after it that of an object.
func (c *cli) completeNames(most int) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		var names []string
		if len(args) < most && !c.local.on() {
			names = c.names(ctx, args)
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(begun))
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// names returns the words that may follow args, and none after an error, which a shell would not show.
func (c *cli) names(ctx context.Context, args []string) []string {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	v, err := c.open(name)
	if err != nil {
		return nil
	}
	defer v.close()
	var names []string
	if len(args) == 0 {
		graphs, err := v.client.List(ctx, v.namespace)
		if err != nil {
			return nil
		}
		for _, g := range graphs {
			names = append(names, g.Name)
		}
		return names
	}
	g, err := v.client.Get(ctx, v.namespace, v.name)
	if err != nil {
		return nil
	}
	k := c.newKinds(v.namespace, g)
	for key := range k.everything() {
		names = append(names, strings.ToLower(k.kind(key))+strings.TrimPrefix(k.name(key), k.kind(key)))
	}
	slices.Sort(names)
	return names
}
