package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/api/reason"
	"graphview.dev/api/v1alpha1"
	"graphview.dev/client"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/wording"
)

func (c *cli) impact() *cobra.Command {
	var (
		in            string
		allNamespaces bool
		cascade       string
		output        string
	)
	from := source{cli: c, parse: c.objectOnly}
	cmd := &cobra.Command{
		Use:   "impact [NAME] KIND/NAME | impact [NAME] KIND NAME",
		Short: "Show what happens if an object is deleted",
		Long: `Show what the deletion of an object deletes as well, what breaks at once, what cannot
start again, what probably breaks, and what loses an optional reference. Each line ends with the reason. The
objects are those of an ad-hoc view of the namespace, or with -A of the cluster,
which takes the ClusterRole graphview-requester; or those of a GraphView, with --in.
Only references that GraphView knows count, and only objects that you may list.`,
		Example: `  kubectl graphview impact deployment/web -n shop
  kubectl graphview impact secret/pull-secret -n shop -A
  kubectl graphview impact service/web -n shop --in storefront
  kubectl graphview impact service/web -n shop --local`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			if t.view != "" {
				in = t.view
			}
			if in != "" && allNamespaces {
				return usagef(cmd, "--in names a GraphView, which has its own namespaces: leave -A out")
			}
			if c.link != "" && in == "" {
				return usagef(cmd, "--link %s: a hub serves no ad-hoc views; name a GraphView of that cluster with --in", c.link)
			}
			if output != "" && !slices.Contains(answerOutputs, output) {
				return c.wrongOutput(cmd, output, answerOutputs)
			}
			policy, known := map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}[cascade]
			if !known {
				return usagef(cmd, "--cascade must be background, foreground or orphan")
			}
			if c.local.serves() {
				if in != "" && in != localName {
					return usagef(cmd, "--in names a GraphView of an operator: leave --in or --local out")
				}
				in = localName
			}
			if in == "" {
				if err := c.asView(cmd, t.object); err != nil {
					return err
				}
			}
			v, err := c.open(in)
			if err != nil {
				return err
			}
			defer v.close()
			q := question{allNamespaces: allNamespaces, resourceCEL: "!(" + unwatched + ")"}
			stop := newProgress(v).start(cmd.Context())
			found, err := v.impactOf(cmd.Context(), q, t.object, policy)
			stop()
			if err != nil {
				return err
			}
			return c.writeImpact(output, v, found)
		}),
	}
	cmd.Flags().StringVar(&in, "in", "", "The GraphView to look in, instead of an ad-hoc view")
	cmd.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "Look in all namespaces")
	cmd.Flags().StringVar(&cascade, "cascade", "background", "How the object is deleted, as for kubectl delete: background, foreground or orphan")
	addOutput(cmd, &output)
	c.addInferred(cmd)
	c.addWait(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

// impactOf asks the server about the deletion of an object.
func (v *view) impactOf(ctx context.Context, q question, object, policy string) (*client.Impact, error) {
	key, err := v.keyOf(object)
	if err != nil {
		return nil, err
	}
	o := client.Options{ExcludeInferred: !v.inferred}
	waiting, cancel := context.WithTimeoutCause(ctx, v.wait, errWaited)
	defer cancel()
	var found *client.Impact
	if v.name != "" {
		found, err = v.client.Impact(waiting, v.namespace, v.name, key, policy, o)
	} else {
		var r v1alpha1.GraphViewSpec
		if r, err = q.spec(v.namespace, v.mapper); err != nil {
			return nil, err
		}
		found, err = v.client.RequestImpact(waiting, r, key, policy, o)
	}
	if err == nil {
		return found, nil
	}
	if ctx.Err() == nil && waiting.Err() != nil {
		return nil, fmt.Errorf("%s is not complete after %s", v, v.wait)
	}
	if text, absent := notFoundText(err); absent {
		return nil, v.alreadyMissing(ctx, errors.New(text), object)
	}
	return nil, v.remedy(ctx, err)
}

// alreadyMissing adds to the error for an object that a GraphView lacks the objects that refer to it.
func (v *view) alreadyMissing(ctx context.Context, err error, object string) error {
	if v.name == "" {
		return err
	}
	g, _ := v.around(ctx, object, client.Both, 1) // without a graph, the first error says all
	if g == nil {
		return err
	}
	k := v.newKinds(v.namespace, g)
	key, failed := k.find(object)
	if failed != nil {
		return err
	}
	var names []string
	for _, arc := range g.In(key) {
		names = append(names, k.name(arc.From))
	}
	if len(names) == 0 {
		return err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	refer := strings.Join(names[:min(len(names), mostNames)], ", ")
	if more := len(names) - mostNames; more > 0 {
		refer += fmt.Sprintf(" and %d more", more)
	}
	missing := fmt.Errorf("%s is missing already; referred to by %s", k.name(key), refer)
	if v.local.serves() {
		return v.replaced(missing, "impact", "explain")
	}
	return v.correct(missing, nil, []string{"explain", v.name, object})
}

// notFoundText returns the server's sentence about an object that is not in the graph.
func notFoundText(err error) (text string, absent bool) {
	if closed, ok := errors.AsType[*client.CloseError](err); ok && closed.Reason == reason.NotFound {
		return closed.Message, true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsNotFound(err) || status.ErrStatus.Details == nil || status.ErrStatus.Details.Kind == "graphs" {
		return "", false
	}
	return status.ErrStatus.Message, strings.Contains(status.ErrStatus.Message, "not found")
}

// writeImpact prints an answer: as the server wrote it with -o json or yaml, and the affected objects with -o name.
func (c *cli) writeImpact(output string, v *view, found *client.Impact) error {
	switch output {
	case outputJSON, outputYAML:
		return c.writeObject(output, found)
	case outputName:
		k := c.newKinds(v.namespace, &client.Graph{})
		var all []object
		for i := range found.Groups {
			if found.Groups[i].Verdict == client.Unaffected {
				continue
			}
			for _, key := range found.Groups[i].Objects {
				all = append(all, k.named(key))
			}
		}
		c.writeNames(all)
	default:
		c.drawImpact(v, found)
	}
	return nil
}

// mostNames is the number of objects that a line names.
const mostNames = 3

// drawImpact prints an answer.
func (c *cli) drawImpact(v *view, found *client.Impact) {
	g := &client.Graph{}
	g.Apply(&client.Message{Warnings: found.Warnings})
	k := c.newKinds(v.namespace, g)
	fmt.Fprintf(c.Out, "Deleting %s:\n", c.paint.Strong(k.name(found.Object)))
	for _, verdict := range client.Verdicts {
		count := found.Counts[verdict]
		if verdict == client.Unaffected || count == 0 {
			continue
		}
		fmt.Fprintf(c.Out, "\n%s (%d)\n", c.paint.Strong(string(verdict)), count)
		for i := range found.Groups {
			if group := &found.Groups[i]; group.Verdict == verdict && len(group.Objects) > 0 {
				c.drawGroup(c.Out, k, group)
			}
		}
	}
	// Without a GraphView no view is named.
	inView, outside := " in this view", "outside it"
	nowhere := fmt.Sprintf("Nothing in %s depends on it. Objects that %[1]s does not select", v)
	if v.name == "" || v.local.serves() && v.local.nameless() && v.local.file == "" {
		inView, outside = "", "beyond these"
		nowhere = "Nothing that was looked at depends on it. Objects that were not looked at"
	}
	if total(found) == 1 {
		fmt.Fprintf(c.Out, "\n%s, and references that no rule describes, are not known.\n", nowhere)
	}
	fmt.Fprintf(c.Out, "\n%s unaffected%s", count(found.Counts[client.Unaffected], "object"), inView)
	if found.Unseen > 0 {
		fmt.Fprintf(c.Out, "; %s that you may see %s", count(found.Unseen, "referrer"), outside)
	}
	fmt.Fprintln(c.Out, ".")
	c.leftOut(c.Out, found.LeftOut)
}

// total counts the affected objects.
func total(found *client.Impact) (n int) {
	for verdict, count := range found.Counts {
		if verdict != client.Unaffected {
			n += count
		}
	}
	return n
}

func (c *cli) drawGroup(out io.Writer, k *kinds, group *client.ImpactGroup) {
	var names []string
	for _, key := range group.Objects[:min(len(group.Objects), mostNames)] {
		names = append(names, k.name(key))
	}
	line := names[0]
	if n := len(group.Objects); n > 1 {
		kind, _, _ := strings.Cut(line, "/")
		line = fmt.Sprintf("%s ×%d (%s", kind, n, strings.Join(names, ", "))
		if n > mostNames {
			line += ", …"
		}
		line += ")"
	}
	var notes []string
	for i := range group.Path {
		notes = append(notes, stepText(k, &group.Path[i]))
	}
	if len(notes) > 0 {
		line += ": " + strings.Join(notes, ", ")
	}
	fmt.Fprintf(out, "  %s\n", line)
	for _, hold := range group.Holds {
		var by []string
		for _, key := range hold.By {
			by = append(by, k.name(key))
		}
		switch {
		case hold.Finalizer != "" && len(by) > 0:
			fmt.Fprintf(out, "    held by finalizer %s, until %s is deleted\n", printable.Text(hold.Finalizer), strings.Join(by, ", "))
		case hold.Finalizer != "":
			fmt.Fprintf(out, "    held by finalizer %s\n", printable.Text(hold.Finalizer))
		default:
			fmt.Fprintf(out, "    waits for %s\n", strings.Join(by, ", "))
		}
	}
	if group.Again != nil {
		fmt.Fprintf(out, "    %s makes it again\n", k.name(*group.Again))
	}
}

// stepText returns a step from one object to the next in words.
func stepText(k *kinds, step *client.ImpactStep) string {
	word := "uses"
	switch {
	case step.Type == client.InContent && step.To.Resource == "namespaces":
		word = "in"
	case step.Type == client.InContent:
		word = "defined by"
	case step.Type == client.Owner:
		word = "owned by"
	case len(step.Words) > 0 && step.Reversed:
		word = strings.TrimPrefix(wording.Reversed(step.Words[0]), "is ")
	case len(step.Words) > 0:
		word = step.Words[0]
	}
	text := word + " " + k.name(step.To)
	if fields := slices.Compact(slices.Clone(step.Fields)); len(fields) > 0 && step.Type != client.Owner {
		field, inferred := strings.CutPrefix(fields[0], graph.InferredField)
		if inferred {
			field += ", inferred"
		}
		text += " [" + field + "]"
	}
	return printable.Text(text)
}
