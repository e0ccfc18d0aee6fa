package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
)

// shape is how a tree is to be drawn.
type shape struct {
	depth   int
	reverse bool
	missing bool
	start   string // KIND/NAME
}

func (s *shape) addTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&s.depth, "depth", 0, "Draw so many levels; 0 draws all")
	cmd.Flags().BoolVar(&s.reverse, "reverse", false, "Draw below each object what owns it and what refers to it, beginning with what is missing")
	cmd.Flags().BoolVar(&s.missing, "missing", false, "Draw only what is missing, and below it what owns or refers to it")
}

func (c *cli) tree() *cobra.Command {
	var s shape
	cmd := &cobra.Command{
		Use:   "tree NAME [KIND/NAME]",
		Short: "Draw a graph as a tree",
		Long: `Draw a graph as a tree, from the roots of its GraphView or from one object: first
what is owned, then what is used, then what is named for others to use. An object
that several lead to is drawn with what is below it once. MISSING is what is
referred to and not in the graph: it does not exist, or the view does not select
it.`,
		Example: `  kubectl graphview tree storefront
  kubectl graphview tree storefront deployment/web --depth=2
  kubectl graphview tree storefront configmap/web --reverse
  kubectl graphview tree storefront --missing`,
		Args: between(1, 2, "the NAME of a GraphView, and at most one KIND/NAME to begin with"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				s.start = args[1]
			}
			if s.missing && s.start != "" {
				return usagef(cmd, "--missing begins with what is missing: leave %s out", s.start)
			}
			v, err := c.open(args[0])
			if err != nil {
				return err
			}
			defer v.close()
			f := v.follow()
			defer f.Close()
			g, failed := f.complete(cmd.Context())
			if g == nil {
				return failed
			}
			var expressions []string
			if !s.reverse && !s.missing && s.start == "" {
				expressions = v.rootExpressions(cmd.Context())
			}
			if err := c.draw(cmd.Context(), v, g, s, expressions); err != nil {
				return err
			}
			return failed
		},
	}
	s.addTo(cmd)
	c.addWait(cmd)
	return cmd
}

// rootExpressions are those of the GraphView. Without them a tree begins with
// what nothing refers to, which is said.
func (v *view) rootExpressions(ctx context.Context) []string {
	declared, err := v.declaration(ctx)
	if err != nil {
		fmt.Fprintf(v.ErrOut, "The roots are not known (%v): the tree begins with what nothing refers to.\n", bare(err))
		return nil
	}
	var expressions []string
	if declared.Spec.Roots != nil {
		for _, e := range declared.Spec.Roots.ObjectSelectorExpressions {
			expressions = append(expressions, string(e))
		}
	}
	return expressions
}

// draw draws a graph and says what is not in it.
func (c *cli) draw(ctx context.Context, v *view, g *client.Graph, s shape, expressions []string) error {
	k := c.newKinds(v.namespace, g)
	options := outline.Options{
		Reverse: s.reverse, Depth: s.depth, Name: k.name, Colours: c.paint,
		State: states(g),
	}
	var err error
	switch {
	case s.missing:
		options.Only, options.Reverse, options.Roots = true, true, missing(g)
	case s.start != "":
		options.Only = true
		var start client.Key
		if start, err = k.find(s.start); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		options.Roots = []client.Key{start}
	default:
		if options.Roots, err = roots(ctx, g, expressions); err != nil {
			return err
		}
	}
	if err := outline.Write(c.Out, g, options); err != nil {
		return err
	}
	if s.start == "" {
		fmt.Fprintf(c.Out, "\n%s\n", c.sum(g))
	}
	c.leftOut(c.Out, g)
	return nil
}

// sum counts.
func (c *cli) sum(g *client.Graph) string {
	text := fmt.Sprintf("%s, %s", count(len(g.Vertices), "object"), count(len(g.Arcs), "reference"))
	if n := len(missing(g)); n > 0 {
		text += ", " + c.paint.Bad(fmt.Sprintf("%d missing", n))
	}
	return text
}

// missing is what arcs lead to and is not in the graph, sorted.
func missing(g *client.Graph) []client.Key {
	all := map[client.Key]bool{}
	for key, a := range g.Arcs {
		if a.Missing {
			all[key.To] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), client.Key.Compare)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// leftOut tells what keeps a graph from being whole: what the user may not see,
// a line for each resource, and what the server could not do.
func (c *cli) leftOut(out io.Writer, g *client.Graph) {
	places := map[string][]string{} // by resource
	var resources []string
	for _, w := range g.Warnings() {
		if w.Type != client.AccessDenied {
			fmt.Fprintf(out, "%s %s\n", c.paint.Bad(w.Type+":"), w.Message)
			continue
		}
		key := w.Key()
		name := key.Resource
		if key.Group != "" {
			name += "." + key.Group
		}
		if _, ok := places[name]; !ok {
			resources = append(resources, name)
			places[name] = nil
		}
		if key.Namespace != "" {
			places[name] = append(places[name], key.Namespace)
		}
	}
	if len(resources) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", c.paint.Bad("Left out, because you may not list and watch it:"))
	slices.Sort(resources)
	for _, name := range resources {
		where := ""
		if len(places[name]) > 0 {
			where = " in " + strings.Join(places[name], ", ")
		}
		fmt.Fprintf(out, "  %s%s\n", name, where)
	}
}
