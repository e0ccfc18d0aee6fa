package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
	"graphview.dev/graphview/access"
	"graphview.dev/graphview/printable"
)

// mostLookedUp bounds the questions to the API server about missing objects, and those to the operator about
// bindings and about changes before problems.
const mostLookedUp = 20

func (c *cli) explain() *cobra.Command {
	var output string
	from := source{cli: c, parse: c.objectOrKind}
	cmd := &cobra.Command{
		Use:   "explain [NAME] [KIND/NAME | KIND NAME] | explain KIND",
		Short: "Show what an object refers to and what refers to it",
		Long: `Show an object's state, its references in both directions and the fields they come
from, and the last changes of it and of what it leads to. Missing objects are looked up in the API server. Of a KIND alone it is shown
where the health of its objects comes from, and which of their fields are read as
references.`,
		Example: `  kubectl graphview explain storefront pod/web-0
  kubectl graphview explain storefront configmap/web
  kubectl graphview explain certificates.cert-manager.io`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			switch {
			case output != "" && !slices.Contains(answerOutputs, output):
				return c.wrongOutput(cmd, output, answerOutputs)
			case t.kind != "" && output != "":
				return c.correct(usagef(cmd, "-o is for an object, KIND/NAME, and not for a KIND"), cmd, []string{t.kind})
			case t.kind != "":
				return c.explainKind(cmd, t.kind)
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
			g, failed := v.around(cmd.Context(), t.object, client.Both, 1)
			if g == nil {
				return failed
			}
			k := c.newKinds(v.namespace, g)
			key, err := k.find(t.object)
			if err != nil {
				return fmt.Errorf("%s: %w", v, err)
			}
			if output != "" && output != outputWide {
				return cmp.Or(c.writeAnswer(output, v, reached(g, key, 1, func(key client.Key) []client.Arc { return slices.Concat(g.Out(key), g.In(key)) })), failed)
			}
			if err := c.describe(cmd.Context(), v, g, k, key); err != nil {
				return err
			}
			if err := c.writeLastChanges(cmd.Context(), v, k, key); err != nil {
				return err
			}
			c.leftOut(c.Out, answerFrom(v, g, true).LeftOut())
			return failed
		}),
	}
	addOutput(cmd, &output)
	c.addWait(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

func (c *cli) describe(ctx context.Context, v *view, g *client.Graph, k *kinds, key client.Key) error {
	vertex, there := g.Vertices[key]
	if there {
		// The object has more facts than its summary, and without it fewer are printed.
		if whole, err := v.client.GetObject(ctx, v.namespace, v.name, key); err == nil {
			whole.Summary = vertex.Summary
			vertex = &whole.Vertex
		}
	}
	head := c.paint.Strong(k.name(key))
	if text, bad := stateIn(g, key, vertex); bad {
		head += "  " + c.paint.Bad(text)
	} else if text != "" {
		head += "  " + text
	}
	lookup := &lookup{view: v}
	if !there {
		head += "  " + lookup.absence(ctx, client.Arc{To: key, Attributes: outline.NeededMost(g, key)})
	}
	fmt.Fprintln(c.Out, head)
	if text := v.origin(key); text != "" {
		fmt.Fprintf(c.Out, "  %s\n", text)
	}
	if text := facts(vertex); text != "" {
		fmt.Fprintf(c.Out, "  %s\n", text)
	}
	for _, text := range troubles(vertex) {
		fmt.Fprintf(c.Out, "  %s\n", text)
	}
	if there {
		c.table("Refers to", g.Out(key), func(arc client.Arc) []string {
			name := k.name(arc.To)
			if !arc.Attributes.Missing {
				text, _ := stateText(healthIn(g, arc.To))
				return []string{outline.Verb(arc.Type, arc.Attributes), name, text, fields(arc.Attributes)}
			}
			return []string{outline.Verb(arc.Type, arc.Attributes), name, lookup.absence(ctx, arc), fields(arc.Attributes)}
		}, people(vertex)...)
		if names := outside(g, vertex); len(names) > 0 {
			more := ""
			if n := len(names) - mostLookedUp; n > 0 {
				more = fmt.Sprintf(" and %d more", n)
			}
			fmt.Fprintf(c.Out, "  and, of kinds that %s does not watch: %s%s\n", v, strings.Join(names[:min(len(names), mostLookedUp)], ", "), more)
		}
		for i, name := range (&remotes{view: v}).names(ctx, g, vertex) {
			if i == 0 {
				fmt.Fprintf(c.Out, "\n%s:\n", c.paint.Strong("Refers to, in other clusters"))
			}
			fmt.Fprintf(c.Out, "  %s\n", strings.TrimSuffix(name, "  in another cluster"))
		}
	}
	c.table("Referred to by", g.In(key), func(arc client.Arc) []string {
		text, _ := stateText(healthIn(g, arc.From))
		if text == "" {
			text = lookup.bound(ctx, arc.From)
		}
		return []string{k.name(arc.From), outline.Verb(arc.Type, arc.Attributes) + " it", text, fields(arc.Attributes)}
	})
	return ctx.Err()
}

func fields(a client.Attributes) string {
	words := slices.Clone(a.Fields)
	if a.Controller {
		words = append(words, "its controller")
	}
	return printable.Text(strings.Join(words, ", "))
}

// table writes arcs, owners first, and the users and groups that the object binds.
func (c *cli) table(title string, arcs []client.Arc, row func(client.Arc) []string, bound ...string) {
	fmt.Fprintf(c.Out, "\n%s", c.paint.Strong(title))
	if len(arcs)+len(bound) == 0 {
		fmt.Fprintln(c.Out, ": nothing")
		return
	}
	fmt.Fprintln(c.Out, ":")
	rows := make([][]string, 0, len(arcs))
	for _, arc := range arcs {
		rows = append(rows, row(arc))
	}
	for _, name := range bound {
		rows = append(rows, []string{"binds", name, "no object", "subjects[]"})
	}
	slices.SortStableFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	out := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(out, "  %s\n", strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	_ = out.Flush() // its errors are those of c.Out, to which nothing more can be said
}

// lookup finds facts that a graph does not have: at the API server about missing objects,
// and at the operator about the users and groups of bindings.
type lookup struct {
	view            *view
	asked, bindings int
}

// absence describes the absence of an arc's destination from the graph.
func (l *lookup) absence(ctx context.Context, arc client.Arc) string {
	a := arc.Attributes
	const outside = "outside: it exists, but the view does not select it"
	if l.view.local.manifests != nil && a.Outside != "" {
		return "outside: the manifests do not describe such objects, and a cluster may have it"
	}
	if a.Outside == client.OutsideView {
		return outside
	}
	exists, known := l.exists(ctx, arc.To)
	switch {
	case exists && arc.Type == client.Owner && a.Outside == "":
		return l.view.paint.Bad("MISSING") + ": it was replaced by another object of that name"
	case exists:
		return outside
	case known && a.Optional:
		return "absent: it does not exist, and is optional"
	case known:
		return l.view.paint.Bad("MISSING") + ": it does not exist"
	case a.Outside != "":
		return "outside: the view does not look for it, and you may not list it"
	case a.Optional:
		return "absent: it is optional"
	default:
		return l.view.paint.Bad("MISSING") + ": it does not exist, or the view does not select it"
	}
}

// exists reports whether an object exists, and whether that is known.
func (l *lookup) exists(ctx context.Context, key client.Key) (exists, known bool) {
	objects, err := l.view.dynamic()
	if err != nil || l.asked >= mostLookedUp || l.view.link != "" { // the API server is that of the hub
		return false, false
	}
	l.asked++
	if l.view.local.serves() {
		// A request that the user may not make would be a refusal in the audit log.
		if may, err := l.view.local.rights.May(ctx, access.Question{
			Verb: "get", Group: key.Group, Version: "*", Resource: key.Resource, Namespace: key.Namespace, Name: key.Name,
		}); err != nil || !may {
			return false, false
		}
	}
	resource := schema.GroupVersionResource{Group: key.Group, Version: key.Version, Resource: key.Resource}
	if key.Namespace == "" {
		_, err = objects.Resource(resource).Get(ctx, key.Name, metav1.GetOptions{})
	} else {
		_, err = objects.Resource(resource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}
	return err == nil, err == nil || apierrors.IsNotFound(err)
}
