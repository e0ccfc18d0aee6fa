package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
)

// changesQuery has the flags of changes.
type changesQuery struct {
	since, until moment
	alone        bool
	watch        bool
	output       string
}

// pollInterval is the pause between two questions of --watch.
const pollInterval = time.Second

func (c *cli) changes() *cobra.Command {
	var (
		q             changesQuery
		allNamespaces bool
	)
	from := source{cli: c, parse: c.viewAndObject, withoutManifests: true}
	cmd := &cobra.Command{
		Use:   "changes [NAME] [KIND/NAME | KIND NAME]",
		Short: "Show what changed, newest first",
		Long: `Show the changes of an object and of everything that it leads to, newest first: what was
added or removed, which fields changed, and how the health became worse or better. Without an
object they are those of a graph, of all graphs of the namespace, or with -A of all graphs.

What somebody changed has a line each. Of what followed from it, the two worst lines stand above
it; -o wide shows every change. Values are shown of images, replicas and versions alone.

It takes an operator with history, which is on by default, in memory. With --local the history
begins with this process, and --watch follows it.`,
		Example: `  kubectl graphview changes deployment/web -n shop
  kubectl graphview changes storefront --since 2h
  kubectl graphview changes -A --since 14:00 --until 14:15
  kubectl graphview changes deployment/web --alone -o json
  kubectl graphview changes storefront --watch`,
		RunE: from.run(func(cmd *cobra.Command, t target) error {
			switch {
			case q.output != "" && !slices.Contains(answerOutputs, q.output):
				return c.wrongOutput(cmd, q.output, answerOutputs)
			case q.alone && t.object == "":
				return c.correct(usagef(cmd, "--alone is for one object: name it, KIND/NAME, or leave --alone out"), cmd, t.words())
			case q.watch && q.until.asked != "":
				return c.correct(usagef(cmd, "--watch has no end: leave one of them out"), cmd, append(t.words(), "--until", q.until.given))
			case q.watch && q.output != "" && q.output != outputWide && q.output != outputJSON:
				return c.correct(usagef(cmd, "-o %s is for an answer that ends: leave --watch out", q.output), cmd, append(t.words(), "-o", q.output))
			case allNamespaces && t.view != "" && !c.local.serves():
				return c.correct(usagef(cmd, "-A is for all graphs: leave %s or -A out", t.view), cmd, t.words())
			}
			views, err := c.changedViews(cmd, t, allNamespaces)
			if err != nil {
				return err
			}
			for _, v := range views {
				defer v.close()
			}
			return c.answerChanges(cmd.Context(), views, t, q)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVarP(&allNamespaces, "all-namespaces", "A", false, "The graphs of all namespaces")
	flags.Var(&q.since, "since", "Leave out older changes: "+expectedMoment)
	flags.Var(&q.until, "until", "Leave out newer changes; as --since")
	flags.BoolVar(&q.alone, "alone", false, "The changes of the object alone, without those of what it leads to")
	flags.BoolVar(&q.watch, "watch", false, "Follow the changes, oldest first, until Ctrl-C")
	addOutput(cmd, &q.output)
	c.addWait(cmd)
	from.addFlags(cmd)
	c.addLink(cmd)
	return cmd
}

// changedViews returns the views to ask: the named one, or all of the namespace or the cluster. For an object, it leaves
// out views without the object. An object that is gone may be in the history of any.
func (c *cli) changedViews(cmd *cobra.Command, t target, wide bool) ([]*view, error) {
	ctx := cmd.Context()
	graphs, err := c.graphsOf(ctx, search{name: t.view, wide: wide})
	switch {
	case err != nil:
		return nil, err
	case len(graphs) == 0:
		return nil, c.correct(errors.New("there are no graphs here"), cmd, append(t.words(), localWords(wide)...))
	case t.object != "" && t.view == "" && !wide && !c.local.serves():
		var names []string
		for i := range graphs {
			names = append(names, graphs[i].Name)
		}
		having := c.having(ctx, names, t.object)
		if err := c.asView(cmd, t.object); err != nil && len(having) == 0 {
			return nil, err
		}
		if len(having) > 0 {
			graphs = slices.DeleteFunc(graphs, func(g client.Listed) bool { return !slices.Contains(having, g.Name) })
		}
	}
	var views []*view
	for i := range graphs {
		v, err := c.open(graphs[i].Name)
		if err != nil {
			return nil, err
		}
		v.namespace = graphs[i].Namespace
		views = append(views, v)
	}
	return views, nil
}

// answerChanges asks the views, and prints the answer. With --watch it asks again and again.
func (c *cli) answerChanges(ctx context.Context, views []*view, t target, q changesQuery) error {
	o := client.ChangesOptions{Since: q.since.asked, Until: q.until.asked, Alone: q.alone}
	stop := newProgress(views[0]).start(ctx)
	answer, failed := c.askChanges(ctx, views, t.object, o)
	stop()
	if answer == nil {
		return failed
	}
	if !q.watch {
		return cmp.Or(c.writeChanges(views[0], t, q.output, answer), failed)
	}
	c.leftOut(c.ErrOut, historyLines(answer))
	for said := ""; ; {
		if answer != nil {
			if err := c.followChanges(views[0], q.output, answer); err != nil {
				return err
			}
			o.Since, said = answer.Until.UTC().Format(time.RFC3339Nano), ""
		} else if text := errorText(failed); text != said {
			fmt.Fprintf(c.ErrOut, "%s; trying again\n", text)
			said = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollInterval):
		}
		if answer, failed = c.askChanges(ctx, views, t.object, o); answer == nil && client.Permanent(failed) && ctx.Err() == nil {
			return failed
		}
	}
}

// askChanges merges the answers of views. A change that several views have is there once. A view that lacks the object
// does not matter if another one has it. If none has it, the error begins with that, since a view that does not answer
// may have nothing to do with the object.
func (c *cli) askChanges(ctx context.Context, views []*view, object string, o client.ChangesOptions) (all *client.Changes, failed error) {
	var absent error
	for _, v := range views {
		if object != "" {
			key, err := v.keyOf(object)
			if err != nil {
				return nil, err
			}
			o.Object = &key
		}
		answer, err := v.changesOf(ctx, object, o)
		switch {
		case errors.As(err, new(absentError)):
			if absent == nil || !errors.As(absent, new(*correction)) { // a view with a similar object says more
				absent = err
			}
		case err != nil && len(views) > 1:
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", v, err))
		case err != nil:
			failed = err
		case all == nil:
			all = answer
		default:
			merge(all, answer)
		}
	}
	if all == nil {
		return nil, errors.Join(absent, failed)
	}
	return all, failed
}

// merge adds the answer of another view.
func merge(all, answer *client.Changes) {
	all.Changes, all.More = append(all.Changes, answer.Changes...), all.More || answer.More
	slices.SortStableFunc(all.Changes, func(a, b client.Change) int {
		return cmp.Or(b.Time.Compare(a.Time.Time), unversioned(a.Key).Compare(unversioned(b.Key)), cmp.Compare(a.Type, b.Type))
	})
	all.Changes = slices.CompactFunc(all.Changes, func(a, b client.Change) bool {
		return a.Time.Equal(&b.Time) && a.Key == b.Key && a.Type == b.Type && (a.Reference == nil || b.Reference == nil || a.Reference.To == b.Reference.To)
	})
	all.Gaps = append(all.Gaps, slices.DeleteFunc(answer.Gaps, func(g client.Gap) bool { return slices.Contains(all.Gaps, g) })...)
	all.LeftOut = append(all.LeftOut, slices.DeleteFunc(answer.LeftOut, func(line string) bool { return slices.Contains(all.LeftOut, line) })...)
	if answer.Since.After(all.Since.Time) {
		all.Since = answer.Since
	}
	if answer.Until.Before(&all.Until) {
		all.Until = answer.Until
	}
}

// absentError is the error for an object that neither a graph nor its history has.
type absentError struct{ error }

func (e absentError) Unwrap() error { return e.error }

// changesOf asks one view. The object is the one of the options as the user wrote it.
func (v *view) changesOf(ctx context.Context, object string, o client.ChangesOptions) (*client.Changes, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, v.wait, errWaited)
	defer cancel()
	answer, err := v.client.Changes(waiting, v.namespace, v.name, o)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() == nil && waiting.Err() != nil:
		return nil, fmt.Errorf("%s is not complete after %s", v, v.wait)
	}
	if text, absent := notFoundText(err); absent && !client.IsHistoryOff(err) {
		return nil, absentError{v.similarTo(ctx, errors.New(text), object)}
	}
	return nil, v.historyError(ctx, err)
}

// similarTo adds to the error for an object that a graph lacks a similar one.
func (v *view) similarTo(ctx context.Context, err error, object string) error {
	g, _ := v.summaries(ctx) // without a graph, the first error says all
	if g == nil {
		return err
	}
	if _, better := v.newKinds(v.namespace, g).find(object); better != nil {
		return fmt.Errorf("%s: %w", v, better)
	}
	return err
}

// writeChanges prints an answer.
func (c *cli) writeChanges(v *view, t target, output string, answer *client.Changes) error {
	k := c.newKinds(v.namespace, &client.Graph{})
	k.learnKinds(answer)
	switch output {
	case outputJSON, outputYAML:
		return c.writeObject(output, answer)
	case outputName:
		var all []object
		for i := range answer.Changes {
			all = append(all, k.named(answer.Changes[i].Key))
		}
		slices.SortFunc(all, func(a, b object) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
		c.writeNames(slices.Compact(all))
		return nil
	}
	lines, left := c.changeLines(output, answer)
	switch {
	case len(lines) > 0:
		out := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(out, "TIME\tOBJECT\tCHANGE")
		for i := range lines {
			fmt.Fprintln(out, strings.TrimRight(row(lines[i].cells(k)...), "\t"))
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	case c.local.serves():
		fmt.Fprintln(c.Out, "Nothing has changed since this process began to look, and it knows nothing older: --watch follows what changes, and an operator remembers it.")
		return nil
	case left == 0 && t.object != "":
		fmt.Fprintf(c.Out, "Neither %s nor anything that it leads to has changed.\n", printable.Text(t.object))
	case left == 0:
		fmt.Fprintf(c.Out, "Nothing that %s shows has changed.\n", v)
	}
	notes := historyLines(answer)
	if left > 0 {
		notes = slices.Insert(notes, 0, count(left, "other change")+" followed from these or say little (-o wide).")
	}
	c.leftOut(c.Out, notes)
	return nil
}

// changeLines returns the lines of an answer, each change with one for -o wide.
func (c *cli) changeLines(output string, answer *client.Changes) (lines []changeLine, left int) {
	if output != outputWide {
		return foldChanges(answer.Changes, answer.Object)
	}
	for i := range answer.Changes {
		lines = append(lines, changeLine{changes: []*client.Change{&answer.Changes[i]}})
	}
	return lines, 0
}

// followChanges prints an answer of --watch.
func (c *cli) followChanges(v *view, output string, answer *client.Changes) error {
	var out bytes.Buffer
	if len(answer.Changes) == 0 {
		return nil
	}
	if output == outputJSON {
		if err := json.NewEncoder(&out).Encode(answer); err != nil {
			return fmt.Errorf("write the changes: %w", err)
		}
	} else {
		k := c.newKinds(v.namespace, &client.Graph{})
		k.learnKinds(answer)
		lines, _ := c.changeLines(output, answer)
		for i := range slices.Backward(lines) {
			fmt.Fprintln(&out, strings.TrimRight(strings.Join(lines[i].cells(k), "  "), " "))
		}
	}
	_, err := c.Out.Write(out.Bytes())
	return err
}
