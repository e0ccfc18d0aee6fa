package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
)

// shape has the options of a tree.
type shape struct {
	depth   int
	reverse bool
	missing bool
	all     bool   // fold nothing
	start   string // KIND/NAME
	// from are expressions that select the roots of the tree; the rest of the graph is not drawn.
	from []string
	// roots are the roots of the tree without from.
	roots  []client.Key
	output string // "" draws the tree
	// at is the time of the tree.
	at moment
}

func (s *shape) addTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&s.depth, "depth", 0, "Maximum depth of the tree (0 = unlimited)")
	cmd.Flags().BoolVar(&s.all, "all", false, "Draw every line: fold neither equal objects nor references that an owner has too")
	cmd.Flags().BoolVar(&s.reverse, "reverse", false, "Draw below each object what owns it and what refers to it, beginning with what is missing")
	cmd.Flags().BoolVar(&s.missing, "missing", false, "Draw only what is missing, and below it what owns or refers to it")
}

func (c *cli) tree() *cobra.Command {
	var s shape
	from := source{cli: c, parse: c.viewAndObject}
	cmd := &cobra.Command{
		Use:   "tree [NAME] [KIND/NAME | KIND NAME]",
		Short: "Draw a graph as a tree",
		Long: `Draw a graph as a tree, from the roots of its GraphView or from one object: first
what is owned, then what is used, then what is named for others to use. An object
that several lead to is drawn with what is below it once. What needs attention
comes first. Equal objects of one owner are one line with a count, and a reference
that an owner has too is said once; --all draws every line. MISSING is what is
referred to and does not exist. What the view does not select is outside it, and
what need not exist is optional. Parts of the GraphView that have no effect are named.
The exit code is 1 if the graph has no object.`,
		Example: `  kubectl graphview tree --local -n shop
  kubectl graphview tree storefront
  kubectl graphview tree storefront deployment/web --depth=2
  kubectl graphview tree storefront configmap/web --reverse
  kubectl graphview tree storefront --missing
  kubectl graphview tree storefront --at 2h`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			s.start = t.object
			if err := c.checkAt(cmd, s.at); err != nil {
				return err
			}
			if s.missing && s.start != "" {
				return c.correct(usagef(cmd, "--missing begins with what is missing: leave %s out", s.start), cmd, append(target{view: t.view}.words(), "--missing"))
			}
			switch {
			case s.output != "" && !slices.Contains(answerOutputs, s.output):
				return c.wrongOutput(cmd, s.output, answerOutputs)
			case s.output == outputWide:
				s.all, s.output = true, ""
			case s.output != "" && s.missing:
				return c.correct(usagef(cmd, "-o %s has all references: leave --missing out", s.output), cmd, append(t.words(), "-o", s.output))
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
			var g *client.Graph
			var failed error
			switch {
			case s.at.asked != "":
				g, failed = v.past(cmd.Context(), s.at)
			case s.start != "":
				// The level below the last one is needed to count it.
				depth := s.depth
				if depth > 0 {
					depth++
				}
				g, failed = v.around(cmd.Context(), s.start, directionOf(s.reverse), depth)
			default:
				g, failed = completeOf(cmd.Context(), v.followSummaries())
			}
			if g == nil {
				return failed
			}
			if !s.reverse && !s.missing && s.start == "" {
				s.roots = declaredRoots(g)
			}
			if s.output != "" {
				err = c.writeTree(v, g, s)
			} else {
				err = c.draw(cmd.Context(), v, g, s, nil)
			}
			if err != nil {
				return err
			}
			if failed != nil || s.start != "" || s.at.asked != "" {
				return failed
			}
			return c.checkEffect(cmd.Context(), v, g)
		}),
	}
	s.addTo(cmd)
	addAt(cmd, &s.at)
	addOutput(cmd, &s.output)
	c.addInferred(cmd)
	c.addWait(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

// writeTree writes the objects and arcs of a tree as -o name, json or yaml.
func (c *cli) writeTree(v *view, g *client.Graph, s shape) error {
	if s.start != "" {
		start, err := c.newKinds(v.namespace, g).find(s.start)
		if err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		g = reached(g, start, s.depth, below(g, s.reverse))
	}
	return c.writeAnswer(s.output, v, g)
}

// declaredRoots returns the roots of a graph with summaries, sorted by the number of objects that
// they own, largest first, then by name.
func declaredRoots(g *client.Graph) []client.Key {
	var keys []client.Key
	for key, vertex := range g.Vertices {
		if vertex.Summary != nil && vertex.Summary.Root {
			keys = append(keys, key)
		}
	}
	owns := map[client.Key]int{}
	for arc := range g.Arcs {
		if arc.Type == client.Owner {
			owns[arc.To]++
		}
	}
	slices.SortFunc(keys, func(a, b client.Key) int { return cmp.Or(cmp.Compare(owns[b], owns[a]), a.Compare(b)) })
	return keys
}

// draw draws a graph and prints the gaps of it.
func (c *cli) draw(ctx context.Context, v *view, g *client.Graph, s shape, expressions []string) error {
	k := c.newKinds(v.namespace, g)
	options := outline.Options{
		Reverse: s.reverse, Fold: !s.all, Depth: s.depth, Name: k.name, Colours: c.paint,
		State: states(g), Remote: (&remotes{view: v}).lines(ctx, g, s.all),
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
	case len(s.from) > 0:
		options.Only = true
		if options.Roots, err = roots(ctx, g, s.from); err != nil {
			return err
		}
	case len(s.roots) > 0:
		options.Roots = s.roots
	default:
		if options.Roots, err = roots(ctx, g, expressions); err != nil {
			return err
		}
	}
	folded, err := outline.Write(c.Out, g, options)
	if err != nil {
		return err
	}
	for _, key := range options.Roots {
		if s.reverse && !referredTo(g, key) {
			fmt.Fprintf(c.Out, "Nothing in %s owns or refers to %s. Objects that %s does not select are not known.\n", v, k.name(key), v)
		}
	}
	if s.start == "" {
		fmt.Fprintf(c.Out, "\n%s%s\n", c.sum(g), foldedText(folded))
	}
	c.leftOut(c.Out, answerFrom(v, g, s.reverse).LeftOut())
	return nil
}

// referredTo reports whether a reverse tree has anything below an object.
func referredTo(g *client.Graph, key client.Key) bool {
	return slices.ContainsFunc(g.In(key), func(arc client.Arc) bool { return arc.Type != client.Owner }) ||
		slices.ContainsFunc(g.Out(key), func(arc client.Arc) bool { return arc.Type == client.Owner && !arc.Attributes.Missing })
}

// foldedText describes the parts that --all would draw.
func foldedText(f outline.Folded) string {
	var parts []string
	if f.Objects > 0 {
		parts = append(parts, count(f.Objects, "object"))
	}
	if f.References > 0 {
		parts = append(parts, count(f.References, "reference"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, " and ") + " folded (--all)"
}

// sum returns the numbers of objects and references in words.
func (c *cli) sum(g *client.Graph) string {
	text := fmt.Sprintf("%s, %s", count(len(g.Vertices), "object"), count(len(g.Arcs), "reference"))
	if n := len(missing(g)); n > 0 {
		text += ", " + c.paint.Bad(fmt.Sprintf("%d missing", n))
	}
	return text
}

// missing returns the missing objects that arcs lead to, sorted.
func missing(g *client.Graph) []client.Key {
	all := map[client.Key]bool{}
	for key, a := range g.Arcs {
		if a.Absent() {
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
