package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// print prints how much of what there is was found, and how much of what was found is
// so.
func (c *comparison) print(out io.Writer) {
	fmt.Fprintf(out, "%d objects, %v\n\n", c.objects, c.product.schemas)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "REFERENCES OF\tFOUND\tMISSED\tRECALL\tRIGHT\tWRONG\tPRECISION\tNOT JUDGED")
	row := func(name string, t tally) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%d\t%d\t%s\t%d\n", name, t.found, t.missed, share(t.found, t.missed), t.right, t.wrong, share(t.right, t.wrong), t.unjudged)
	}
	for s, t := range c.tallies {
		row(sortNames[s], t)
	}
	both := func(a, b sort) tally { t := c.tallies[a]; t.add(c.tallies[b]); return t }
	row("all of unlisted kinds", both(unlistedToKubernetes, unlistedToOwn))
	row("listed and Kubernetes'", both(kubernetes, listed))
	_ = w.Flush() // a table for people
}

func share(part, rest int) string {
	if part+rest == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(part)/float64(part+rest))
}

var verdictNames = [...]string{"-", "right", "wrong", "wrong", "right"}

// printFields prints fields, a line each, those of one sort together.
func printFields(out io.Writer, all map[field]*sighting) {
	order := slices.SortedFunc(maps.Keys(all), func(a, b field) int {
		return cmp.Or(cmp.Compare(all[a].sort, all[b].sort), cmp.Compare(all[b].count, all[a].count), cmp.Compare(a.kind.String()+a.path+a.target, b.kind.String()+b.path+b.target))
	})
	last := sort(-1)
	for _, f := range order {
		seen := all[f]
		if seen.sort != last {
			last = seen.sort
			fmt.Fprintf(out, "\n%s\n", sortNames[last])
		}
		fmt.Fprintf(out, "%d\t%s %s %s\t%s\t%s\t%s: %s\t%s\n", seen.count, f.kind, f.path, f.target, seen.class, seen.reason, seen.world, seen.example, verdictNames[seen.verdict])
	}
}
