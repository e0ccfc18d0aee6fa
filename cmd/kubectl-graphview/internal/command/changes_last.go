package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"graphview.dev/client"
	"graphview.dev/graphview/printable"
)

// mostLast is the number of lines of changes at the end of explain.
const mostLast = 3

// writeLastChanges prints the last changes of an object, nothing if there are none or there is no history. Without an
// operator the history begins with the command.
func (c *cli) writeLastChanges(ctx context.Context, v *view, k *kinds, key client.Key) error {
	if c.local.serves() {
		return nil
	}
	answer, err := v.client.Changes(ctx, v.namespace, v.name, client.ChangesOptions{Object: &key})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil //nolint:nilerr // the answer without it is whole: history is off, or the operator is older
	}
	k.learnKinds(answer)
	lines, _ := foldChanges(answer.Changes, answer.Object)
	if len(lines) == 0 {
		return nil
	}
	fmt.Fprintf(c.Out, "\n%s:\n", c.paint.Strong("Last changes"))
	out := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for i := range lines[:min(len(lines), mostLast)] {
		fmt.Fprintf(out, "  %s\n", strings.TrimRight(row(lines[i].cells(k)...), "\t"))
	}
	return out.Flush()
}

// addBefore adds the act before it to each problem, and returns the number of questions that were asked until now. If there
// are many problems, only the worst are asked about; without a history, none is.
func (v *view) addBefore(ctx context.Context, s search, problems []*problem, asked int) int {
	if v.local.serves() {
		return asked // the history begins with the command
	}
	slices.SortStableFunc(problems, func(a, b *problem) int { return b.severity - a.severity })
	for _, p := range problems {
		if asked >= mostLookedUp {
			return asked
		}
		asked++
		answer, err := v.client.Changes(ctx, v.namespace, v.name, client.ChangesOptions{Object: &p.key, Until: s.at.asked})
		if client.IsHistoryOff(err) {
			return mostLookedUp
		}
		if err == nil {
			p.before = actBefore(answer, p.since)
		}
	}
	return asked
}

// beforeText is the act before a problem in words.
func (c *cli) beforeText(p *problem) string {
	k := c.newKinds(p.key.Namespace, &client.Graph{})
	k.learnKinds(&client.Changes{Changes: []client.Change{*p.before}})
	text := clock(p.before.Time.Time) + "  "
	if unversioned(p.before.Key) != unversioned(p.key) {
		text += k.name(p.before.Key) + " "
	}
	return printable.Text(text + changeText(k, p.before))
}
