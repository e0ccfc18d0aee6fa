package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
)

func (c *cli) impact() *cobra.Command {
	var (
		in            string
		allNamespaces bool
	)
	cmd := &cobra.Command{
		Use:   "impact KIND/NAME",
		Short: "Show what would notice if an object changed or went",
		Long: `Show every object that owns or refers to an object, directly or through others. The
objects are those of an ad-hoc view of the namespace, or with -A of the cluster,
which takes the ClusterRole graphview-requester; or those of a GraphView, with --in.
Only references that GraphView knows count, and only objects that you may list.`,
		Example: `  kubectl graphview impact configmap/web -n shop
  kubectl graphview impact secret/pull-secret -n shop -A
  kubectl graphview impact service/web -n shop --in storefront`,
		Args: between(1, 1, "one KIND/NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in != "" && allNamespaces {
				return usagef(cmd, "--in names a GraphView, which has its own namespaces: leave -A out")
			}
			v, err := c.open(in)
			if err != nil {
				return err
			}
			defer v.close()
			var g *client.Graph
			var failed error
			if in == "" {
				q := question{allNamespaces: allNamespaces, resourceCEL: "!(group == '' && resource == 'events')"}
				g, failed, err = c.askImpact(cmd.Context(), v, q, args[0])
				if err != nil {
					return err
				}
			} else {
				g, failed = v.around(cmd.Context(), args[0], client.Up, 0)
			}
			if g == nil {
				return failed
			}
			if err := c.drawImpact(cmd.Context(), v, g, args[0]); err != nil {
				return err
			}
			return failed
		},
	}
	cmd.Flags().StringVar(&in, "in", "", "The GraphView to look in, instead of an ad-hoc view")
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "Look in all namespaces")
	c.addInferred(cmd)
	c.addWait(cmd)
	return cmd
}

// askImpact asks for what leads up from the object. That is nothing if the object is
// not there, and a server that is older than the question refuses it: then whatever
// refers to the object is looked for in everything.
func (c *cli) askImpact(ctx context.Context, v *view, q question, object string) (g *client.Graph, failed, err error) {
	whole, err := q.request(v.namespace, c.mapper)
	if err != nil {
		return nil, nil, err
	}
	if root, err := rootExpression(object, c.mapper); err == nil {
		up := whole
		up.Roots = &client.Roots{ObjectSelectorExpressions: []string{root}, Follow: &client.Follow{Direction: client.Up}}
		g, failed = completeOf(ctx, v.request(up, client.ContentObject))
		if _, refused := errors.AsType[*client.CloseError](failed); !refused && (g == nil || len(g.Vertices) > 0) {
			return g, failed, nil
		}
	}
	g, failed = completeOf(ctx, v.request(whole, client.ContentObject))
	return g, failed, nil
}

// completeOf is the graph once it is complete, or what there is of it and why.
func completeOf(ctx context.Context, f *follower) (*client.Graph, error) {
	defer f.Close()
	return f.complete(ctx)
}

func (c *cli) drawImpact(ctx context.Context, v *view, g *client.Graph, text string) error {
	k := c.newKinds(v.namespace, g)
	key, err := k.find(text)
	if err != nil {
		return fmt.Errorf("%s: %w", v, err)
	}
	_, there := g.Vertices[key]
	if _, err := outline.Write(c.Out, g, outline.Options{
		Roots: []client.Key{key}, Only: true, Reverse: true, Fold: true, Name: k.name, Colours: c.paint, State: states(g),
	}); err != nil {
		return err
	}
	affected := map[string]int{}
	total := 0
	for other := range dependents(g, key) {
		affected[k.kind(other)]++
		total++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(affected)) {
		parts = append(parts, fmt.Sprintf("%s ×%d", kind, affected[kind]))
	}
	switch {
	case total > 0:
		fmt.Fprintf(c.Out, "\n%s would notice: %s\n", count(total, "object"), strings.Join(parts, ", "))
	case there:
		fmt.Fprintf(c.Out, "\nNothing in %s owns or refers to it. Objects that %s does not select, and references that no rule describes, are not known.\n", v, v)
	}
	c.leftOut(c.Out, g)
	return ctx.Err()
}

// dependents are the vertices that own or refer to one, directly or through
// others.
func dependents(g *client.Graph, key client.Key) map[client.Key]bool {
	above := map[client.Key][]client.Key{}
	for arc, a := range g.Arcs {
		switch {
		case arc.Type != client.Owner:
			above[arc.To] = append(above[arc.To], arc.From)
		case !a.Missing:
			above[arc.From] = append(above[arc.From], arc.To)
		}
	}
	all := map[client.Key]bool{}
	for left := []client.Key{key}; len(left) > 0; {
		next := left[0]
		left = left[1:]
		for _, other := range above[next] {
			if other != key && !all[other] {
				all[other] = true
				left = append(left, other)
			}
		}
	}
	return all
}
