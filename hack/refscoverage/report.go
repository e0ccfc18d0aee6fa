package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

// printRows prints the number of rules by source and by target. A row of a
// template counts once for each kind that includes the template.
func printRows(out io.Writer, rules []refs.Rule) {
	sources, targets := map[string]int{}, map[string]int{}
	for i := range rules {
		sources[kindName(rules[i].From)]++
		targets[targetName(&rules[i])]++
	}
	fmt.Fprintf(out, "%d rules of %d kinds, to %d kinds\n", len(rules), len(sources), len(targets))
	printCounts(out, "SOURCE", sources)
	printCounts(out, "TARGET", targets)
}

func printCounts(out io.Writer, title string, counts map[string]int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\tRULES\n", title)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "%s\t%d\n", name, counts[name])
	}
	_ = w.Flush() // the table is informative
}

func targetName(rule *refs.Rule) string {
	part := func(p refs.Part) string {
		if p.Field != "" {
			return "{" + p.Field + "}"
		}
		return p.Value
	}
	if rule.Method == refs.Inventory || rule.Method == refs.Application {
		return "(inventory)"
	}
	return kindName(graph.Kind{Group: part(rule.To.Group), Kind: part(rule.To.Kind)})
}

// printGaps prints the fields of Kubernetes' kinds that look like references and
// have no row, by their reason. It fails if a field has no reason.
func printGaps(out io.Writer, rules []refs.Rule, kinds map[graph.Kind]map[string]bool, known []*omission) error {
	paths := map[graph.Kind][]string{}
	for i := range rules {
		paths[rules[i].From] = append(paths[rules[i].From], rules[i].Path)
	}
	fields, covered := 0, 0
	byReason := map[string][]string{}
	var open []string
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b graph.Kind) int { return strings.Compare(kindName(a), kindName(b)) }) {
		for _, path := range slices.Sorted(maps.Keys(kinds[kind])) {
			fields++
			field := kindName(kind) + " " + path
			if slices.ContainsFunc(paths[kind], func(rule string) bool { return covers(rule, path) }) {
				covered++
			} else if reason, ok := reasonFor(known, kind, path); ok {
				byReason[reason] = append(byReason[reason], field)
			} else {
				open = append(open, field)
			}
		}
	}
	fmt.Fprintf(out, "\nKubernetes: %d kinds with %d fields that look like references, of which %d have rows. The others:\n", len(kinds), fields, covered)
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(out, "\n%s\n", reason)
		for _, field := range byReason[reason] {
			fmt.Fprintf(out, "  %s\n", field)
		}
	}
	for _, o := range known {
		if !o.used {
			open = append(open, "no field: "+o.line)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("fields without a row and without a reason, or omissions without a field:\n  %s", strings.Join(open, "\n  "))
	}
	return nil
}

// covers reports whether a rule reads a field, a part of it, or an object that has it.
func covers(rule, path string) bool {
	below := func(a, b string) bool {
		rest, ok := strings.CutPrefix(a, b)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
	}
	return below(rule, path) || below(path, rule)
}
