package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
)

// problem is an object that is unhealthy or missing.
type problem struct {
	view, object, state, reason string
	since                       int64
	severity                    int
}

func (c *cli) problems() *cobra.Command {
	var allNamespaces bool
	cmd := &cobra.Command{
		Use:   "problems [NAME]",
		Short: "List what is degraded, progressing, or missing",
		Long: `List the objects that are degraded, progressing or being deleted, and the objects
that are referred to, needed and missing: of one graph, of all graphs of the namespace, or
with -A of all graphs. An object that several graphs have is listed once. A graph without
objects is a problem as well, and parts of a GraphView that have no effect are named. The
exit code is 1 if anything is degraded, missing or empty.`,
		Example: `  kubectl graphview problems storefront -n shop
  kubectl graphview problems -A`,
		Args: between(0, 1, "at most the NAME of a GraphView"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if allNamespaces && len(args) > 0 {
				return usagef(cmd, "-A is for all graphs: leave %s or -A out", args[0])
			}
			v, err := c.open("")
			if err != nil {
				return err
			}
			defer v.close()
			graphs := []client.Listed{{Namespace: v.namespace}}
			if len(args) > 0 {
				graphs[0].Name = args[0]
			} else {
				namespace := v.namespace
				if allNamespaces {
					namespace = ""
				}
				if graphs, err = v.client.List(cmd.Context(), namespace); err != nil {
					return v.remedy(cmd.Context(), err)
				}
			}
			return c.listProblems(cmd.Context(), graphs, allNamespaces)
		},
	}
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "The graphs of all namespaces")
	c.addWait(cmd)
	return cmd
}

func (c *cli) listProblems(ctx context.Context, graphs []client.Listed, wide bool) error {
	if len(graphs) == 0 {
		return errors.New("there are no graphs. See kubectl get graphviews -A")
	}
	seen := map[client.Key]bool{}
	var all []problem
	var failures []error
	for _, listed := range graphs {
		v, err := c.open(listed.Name)
		if err != nil {
			return err
		}
		v.namespace = listed.Namespace
		g, err := v.client.Summaries(ctx, v.namespace, v.name)
		without := ""
		if err == nil {
			without = v.ineffective(ctx)
		}
		v.close()
		if err != nil {
			// A graph that is not served hides no other one's problems.
			failures = append(failures, v.remedy(ctx, err))
			continue
		}
		all = append(all, c.problemsOf(v, g, seen, wide)...)
		switch {
		case len(g.Vertices) == 0:
			all = append(all, problem{v.String(), "-", "empty", emptyText(without), 0, health.Degraded.Severity()})
		case without != "":
			fmt.Fprintf(c.ErrOut, "%s: without effect: %s\n", v, without)
		}
		c.leftOut(c.ErrOut, g)
	}
	sortProblems(all)
	severe := false
	if len(all) > 0 {
		out := tabwriter.NewWriter(c.Out, 0, 0, 3, ' ', 0)
		fmt.Fprintln(out, "VIEW\tOBJECT\tSTATE\tSINCE\tREASON")
		for _, p := range all {
			since := "-"
			if p.since != 0 {
				since = duration.HumanDuration(time.Since(time.Unix(p.since, 0)))
			}
			fmt.Fprintln(out, strings.Join([]string{p.view, p.object, p.state, since, p.reason}, "\t"))
			severe = severe || p.severity >= health.Degraded.Severity()
		}
		_ = out.Flush() // its errors are those of c.Out, to which nothing more can be said
	} else if len(failures) == 0 {
		fmt.Fprintf(c.Out, "No problems in %s.\n", count(len(graphs), "graph"))
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if severe {
		return errFound
	}
	return nil
}

// sortProblems puts the worst first.
func sortProblems(all []problem) {
	slices.SortStableFunc(all, func(a, b problem) int {
		return cmp.Or(-cmp.Compare(a.severity, b.severity), cmp.Compare(a.view, b.view), cmp.Compare(a.object, b.object))
	})
}

// replacedObjects returns the objects that have ended and have a healthy controller.
func replacedObjects(g *client.Graph) map[client.Key]bool {
	all := map[client.Key]bool{}
	for arc, a := range g.Arcs {
		if arc.Type == client.Owner && a.Controller && healthOf(g.Vertices[arc.From]).Ended && healthOf(g.Vertices[arc.To]).State == health.OK {
			all[arc.From] = true
		}
	}
	return all
}

// problemsOf are those of a graph that were not seen in another one.
func (c *cli) problemsOf(v *view, g *client.Graph, seen map[client.Key]bool, wide bool) []problem {
	namespace := v.namespace
	if wide {
		namespace = ""
	}
	k := c.newKinds(namespace, g)
	replaced := replacedObjects(g)
	var all []problem
	for key, vertex := range g.Vertices {
		h := healthOf(vertex)
		if h.State.Severity() <= health.Unknown.Severity() || seen[key] || replaced[key] {
			continue
		}
		seen[key] = true
		reason := h.Reason
		if h.Counted {
			reason = strings.TrimSpace(fmt.Sprintf("%s %d/%d ready", reason, h.Ready, h.Wanted))
		}
		all = append(all, problem{v.String(), k.name(key), string(h.State), cmp.Or(reason, "-"), h.Since, h.State.Severity()})
	}
	users := map[client.Key][]string{}
	for arc, a := range g.Arcs {
		if a.Absent() {
			users[arc.To] = append(users[arc.To], k.name(arc.From))
		}
	}
	for key, names := range users {
		if seen[key] {
			continue
		}
		seen[key] = true
		slices.Sort(names)
		text := "referred to by " + names[0]
		if len(names) > 1 {
			text += fmt.Sprintf(" and %d more", len(names)-1)
		}
		all = append(all, problem{v.String(), k.name(key), "missing", text, 0, health.Degraded.Severity()})
	}
	return all
}
