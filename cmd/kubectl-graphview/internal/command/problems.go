package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/graphview/health"
)

// problem is an object that is unhealthy or missing.
type problem struct {
	cluster                     string // with --all-links
	view, object, state, reason string
	since                       int64
	severity                    int
	key                         client.Key
	kind                        string
	places                      []place // of the references, in manifests
	// stops are the problems that follow from this one. severity is the worst of all.
	stops []problem
	// controlled: the problem above stands for this one, since it controls the object.
	controlled bool
	// before is the act before the problem, nil if none is known.
	before *client.Change
}

// search has the options of a search for problems.
type search struct {
	name   string // of one graph; "" for all
	wide   bool   // in several namespaces
	output string
	// strict reports whether a resource that may not be listed makes the answer unknown.
	strict bool
	// optional: absent objects that nothing needs are listed too.
	optional bool
	// at is the time of the graphs.
	at moment
}

func (c *cli) problems() *cobra.Command {
	var (
		allNamespaces bool
		s             search
	)
	from := source{cli: c, parse: c.viewOnly, verdict: true}
	cmd := &cobra.Command{
		Use:   "problems [NAME]",
		Short: "List what is degraded, progressing, or missing",
		Long: `List the objects that are degraded, progressing or being deleted, and the objects
that are referred to, needed and missing: of one graph, of all graphs of the namespace, or
with -A of all graphs. Each cause is one row, and below it is counted what follows from it; -o wide
lists that too. With the history of an operator, the line "after" has what somebody changed before. An object that several graphs have is listed once. A graph without objects is a
problem as well, and parts of a GraphView that have no effect are named. What is absent and not
needed is no problem: --optional lists it.

The command is a gate for pipelines: it waits at most --wait until the graph is complete. The exit
code is 0 if nothing is degraded or missing, 1 if something is, 2 for a wrong command line, and 3 if
that is not known: the server is not reached, a graph or everything may not be read, or a graph is not
complete in time. With --local and --strict it is also 3 if some kinds may not be listed.

With --from it is a gate for manifests before they are applied: it lists the objects that they refer
to and do not have, selectors that select nothing, and keys and ports that are not there, with the
place of each reference. What is created elsewhere is named with --allow, or in the manifest with the
comment # graphview: allow KIND/NAME.

With --with it is the same gate for manifests that are laid over a cluster: it lists the references of the
manifests to objects that the cluster will not have, and the damage to live objects, such as a key that a live
Deployment needs. A problem of the cluster that is not in the manifests is not listed.`,
		Example: `  kubectl graphview problems storefront -n shop
  kubectl graphview problems -A
  kubectl graphview problems -A --all-links
  kubectl graphview problems storefront -n shop --at 14:00
  kubectl graphview problems --local -n shop --wait 2m -o json
  kubectl graphview problems --from manifests/ --allow 'Secret/*-tls'
  helm template ./chart | kubectl graphview problems --from - -o sarif
  kubectl graphview problems --local -n shop --with manifests/
  kubectl graphview problems storefront -n shop --with manifests/`,
		Args: cobra.ArbitraryArgs,
		RunE: unknownUnlessFound(from.run(func(cmd *cobra.Command, t target) error {
			switch {
			case (c.local.files.given() || len(c.local.files.with) > 0) && slices.Contains([]string{outputSARIF, outputJUnit}, s.output):
			case !slices.Contains(problemOutputs, s.output):
				return c.wrongOutput(cmd, s.output, problemOutputs)
			case s.strict && !c.local.on():
				return c.correct(usagef(cmd, "--strict is for --local: an operator's view lacks what its ServiceAccount may not list"), cmd, []string{"--local", "--strict"})
			case allNamespaces && t.view != "" && !c.local.serves():
				return c.correct(usagef(cmd, "-A is for all graphs: leave %s or -A out", t.view), cmd, t.words())
			}
			if err := c.checkAt(cmd, s.at); err != nil {
				return err
			}
			s.wide = allNamespaces || c.local.serves() && len(c.local.namespaces) != 1
			s.name = t.view
			if c.allLinks {
				return c.listLinkProblems(cmd.Context(), s)
			}
			graphs, err := c.graphsOf(cmd.Context(), s)
			if err == nil && len(graphs) == 0 {
				err = c.correct(errors.New("there are no graphs here"), cmd, localWords(allNamespaces))
			}
			if err != nil {
				return err
			}
			found, err := c.findProblems(cmd.Context(), s, graphs)
			if err != nil {
				return err
			}
			return c.conclude(s, found)
		})),
	}
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "The graphs of all namespaces")
	cmd.Flags().StringVarP(&s.output, "output", "o", outputTable, "One of "+strings.Join(problemOutputs, ", ")+"; with --from also sarif, junit")
	cmd.Flags().BoolVar(&s.optional, "optional", false, "Also list what is referred to, absent and not needed, such as the subjects of bindings")
	addAt(cmd, &s.at)
	cmd.Flags().BoolVar(&s.strict, "strict", false, "With --local: exit with 3 also if some kinds are left out")
	c.addWait(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	c.addAllLinks(cmd)
	return cmd
}

// unknownUnlessFound makes an error of run an errUnknown: the exit code distinguishes a graph with problems from an
// unread graph.
func unknownUnlessFound(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if wrong := new(usageError); err != nil && !errors.Is(err, errFound) && !errors.As(err, &wrong) {
			return unknownError{err}
		}
		return err
	}
}

// localWords are the flags with which a person's own rights answer in place of a GraphView.
func localWords(allNamespaces bool) []string {
	if allNamespaces {
		return []string{"-A", "--local"}
	}
	return []string{"--local"}
}

// summaries returns the graph of a view; after an error, the part of it that has arrived.
func (v *view) summaries(ctx context.Context) (*client.Graph, error) {
	if v.local.serves() {
		return completeOf(ctx, v.followSummaries())
	}
	g, err := v.client.Summaries(ctx, v.namespace, v.name)
	if err != nil {
		return nil, v.remedy(ctx, err)
	}
	v.readRevision(g.Rev)
	return g, nil
}

// problemsIn returns the part of the graph of a view that a search needs, and the number of objects of the graph; after an error, the
// part that has arrived.
func (v *view) problemsIn(ctx context.Context, s search) (g *client.Graph, objects int, err error) {
	switch {
	case s.at.asked != "":
		g, err = v.past(ctx, s.at)
	case s.optional || v.local.serves():
		g, err = v.summaries(ctx)
	default:
		return v.troubled(ctx)
	}
	if g != nil {
		objects = len(g.Vertices)
	}
	return g, objects, err
}

// troubled is problemsIn for the present problems of an operator's graph.
func (v *view) troubled(ctx context.Context) (g *client.Graph, objects int, err error) {
	g, passed, err := v.client.Troubled(ctx, v.namespace, v.name)
	if err != nil {
		return nil, 0, v.remedy(ctx, err)
	}
	v.readRevision(g.Rev)
	return g, len(g.Vertices) + passed, nil
}

// graphsOf returns the graphs of a search.
func (c *cli) graphsOf(ctx context.Context, s search) ([]client.Listed, error) {
	name := s.name
	if name == "" && c.local.serves() {
		name = localName
	}
	if name == "" {
		return c.listGraphs(ctx, s.wide)
	}
	v, err := c.open(name)
	if err != nil {
		return nil, err
	}
	defer v.close()
	return []client.Listed{{Namespace: v.namespace, Name: name}}, nil
}

// findProblems looks for problems in graphs. The error is that of the kubeconfig.
func (c *cli) findProblems(ctx context.Context, s search, graphs []client.Listed) (findings, error) {
	found := findings{graphs: len(graphs)}
	var all merged
	var reading atomic.Pointer[string]
	var notes []func() // they are printed when no line is rewritten any more
	var gaps gapLines
	asked := 0 // questions about the change before a problem
	reader := c.newProgress(func(context.Context) string { return *reading.Load() })
	if c.local.serves() { // which says how far the one graph is
		reader.out = io.Discard
	}
	stop := reader.start(ctx)
	defer stop()
	for i, listed := range graphs {
		text := fmt.Sprintf("reading %s/%s, graph %d of %d", listed.Namespace, listed.Name, i+1, len(graphs))
		reading.Store(&text)
		v, err := c.open(listed.Name)
		if err != nil {
			return findings{}, err
		}
		v.namespace = listed.Namespace
		g, objects, err := v.problemsIn(ctx, s)
		without := ""
		switch {
		case err != nil || s.at.asked != "":
		case listed.Ineffective != nil:
			without = *listed.Ineffective
		default:
			without = v.ineffective(ctx)
		}
		if err != nil {
			// A graph that is not served does not hide the problems of others.
			found.failures = append(found.failures, err)
		}
		if g == nil {
			v.close()
			continue
		}
		found.at = g.At
		if c.local.read() != nil {
			found.problems = append(found.problems, c.manifestProblems(v, g, s.wide)...)
		} else {
			of := c.problemsOf(v, g, s)
			asked = v.addBefore(ctx, s, all.unknown(of), asked)
			all.add(of)
		}
		v.close()
		found.warnings = append(found.warnings, g.Warnings()...)
		switch {
		case objects == 0 && v.local.serves():
			found.failures = append(found.failures, fmt.Errorf("%s shows no object: %s", v, emptyText(without)))
		case objects == 0:
			found.problems = append(found.problems, problem{
				view: v.String(), object: "-", state: "empty", reason: emptyText(without), severity: health.Degraded.Severity(),
			})
		case without != "":
			notes = append(notes, func() { fmt.Fprintf(c.ErrOut, "%s: without effect: %s\n", v, without) })
		}
		gaps.add(v.String(), answerFrom(v, g, false).LeftOut())
	}
	stop()
	for _, note := range notes {
		note()
	}
	c.leftOut(c.ErrOut, gaps.lines(len(graphs) > 1))
	found.problems = append(found.problems, all.problems()...)
	return found, nil
}

// listLinkProblems prints the problems of all members of a fleet. One that does not answer is a
// problem; one without graphs is none.
func (c *cli) listLinkProblems(ctx context.Context, s search) error {
	answers, err := askLinks(ctx, c, func(ctx context.Context, one *cli) (findings, error) {
		graphs, err := one.graphsOf(ctx, s)
		if err != nil {
			return findings{}, err
		}
		return one.findProblems(ctx, s, graphs)
	})
	if err != nil {
		return err
	}
	var all findings
	for i := range answers {
		a := &answers[i]
		if a.err != nil {
			a.answer.problems = []problem{{view: "-", object: "-", state: "unreachable", reason: a.err.Error(), severity: health.Degraded.Severity()}}
		}
		for _, p := range a.answer.problems {
			p.cluster = a.link
			all.problems = append(all.problems, p)
		}
		for _, failure := range a.answer.failures {
			all.failures = append(all.failures, fmt.Errorf("%s: %w", a.link, failure))
		}
		all.graphs += a.answer.graphs
		all.warnings = append(all.warnings, a.answer.warnings...)
	}
	return c.conclude(s, all)
}

// conclude prints the findings. The error is errFound if anything is degraded, missing or
// unreachable.
func (c *cli) conclude(s search, found findings) error {
	if s.strict && len(found.warnings) > 0 {
		found.failures = append(found.failures, fmt.Errorf("%s left out, and --strict", count(len(found.warnings), "kind or part of one")))
	}
	sortProblems(found.problems)
	if err := c.writeProblems(s.output, found); err != nil {
		return err
	}
	severe := slices.ContainsFunc(found.problems, func(p problem) bool { return p.severity >= health.Degraded.Severity() })
	err := errors.Join(found.failures...)
	switch {
	case severe:
		if err != nil {
			fmt.Fprintf(c.ErrOut, "error: %s\n", errorText(err))
		}
		return errFound
	default:
		return err
	}
}

// sortProblems puts the worst first.
func sortProblems(all []problem) {
	slices.SortStableFunc(all, func(a, b problem) int {
		return cmp.Or(-cmp.Compare(a.severity, b.severity), cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.view, b.view), cmp.Compare(a.object, b.object))
	})
}
