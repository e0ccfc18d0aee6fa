package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
	"graphview.dev/test/must"
	"graphview.dev/test/operator"
)

// bench is one whole run.
type bench struct {
	options

	plane    *env.ControlPlane
	root     string // of the module
	managers *managers
	samples  map[string][]sample // of rows 1 to 3, by who was measured
	// changes numbers all changes of all rows: a change that left a pod as it was would not be
	// sent.
	changes int
}

// measures are what there is to measure, in the order of the run, with the rows
// that each fills.
var measures = []struct {
	name string
	rows []int
	do   func(context.Context, *bench) []line
}{
	{"cold start and memory", []int{1, 2, 3}, coldStart},
	{"latency", []int{4}, latency},
	{"one core", []int{5}, oneCore},
	{"the graph alone", []int{6, 7}, graphAlone},
	{"idle subscribers", []int{8}, idleSubscribers},
	{"many subscribers", []int{9}, manySubscribers},
	{"stopped readers", []int{10}, stoppedReaders},
	{"many views", []int{11}, manyViews},
	{"idle", []int{12}, idle},
	{"neighbours", []int{13}, neighbours},
	{"health and summaries", []int{14}, healthCost},
	{"rollout", []int{15}, rollout},
}

// run runs the whole benchmark. If a row cannot be measured, the table and the error say so,
// and the other rows are measured.
func run(ctx context.Context, o options) {
	b := &bench{options: o, root: must.Get(env.ModuleRoot()), samples: map[string][]sample{}}
	b.plane = b.loaded(ctx)
	defer must.End(b.plane.Stop)
	if err := must.Try(func() { b.run(ctx) }); err != nil {
		if ctx.Err() == nil {
			fmt.Fprint(os.Stderr, b.plane.Logs()) // they go with the control plane
		}
		must.Do(err)
	}
}

func (b *bench) run(ctx context.Context) {
	must.Do(operator.Install(ctx, b.plane, b.root))
	b.managers = newManagers(ctx, b.plane, b.root, b.settle)
	b.child(ctx, task{Name: "floor"}) // the first list of a resource finds the API server cold
	r := &report{machine: describe(b.plane), options: b.options}
	started := time.Now()
	failed := b.measureAll(ctx, r)
	must.Do(context.Cause(ctx))
	if failed == nil {
		// Last, so that what all the rest did to the cluster is in it.
		failed = must.Try(func() { r.graph = b.verified(ctx) })
	}
	r.bytes, r.took = b.listed(), time.Since(started)
	text := r.render()
	fmt.Print(text)
	must.Do(failed)
	if b.document != "" && len(b.rows) == lastRow && !b.alone {
		must.Do(document.Replace(filepath.Join(b.root, b.document), tableBegins, tableEnds, text))
	}
	if b.profiles != "" {
		b.profile(ctx, filepath.Join(b.root, b.profiles), r.machine)
	}
}

// measureAll measures the rows that are asked for. One after another, never two
// at a time: the machine has few cores.
func (b *bench) measureAll(ctx context.Context, r *report) (failed error) {
	for _, measure := range measures {
		wanted := func(row int) bool { return slices.Contains(b.rows, row) }
		if !slices.ContainsFunc(measure.rows, wanted) || ctx.Err() != nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "rows %v: %s\n", measure.rows, measure.name)
		var found []line
		if err := must.Try(func() { found = measure.do(ctx, b) }); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", measure.name, err))
			for _, row := range measure.rows {
				found = append(found, line{row: row, what: measure.name + ": could not be measured"})
			}
		}
		r.lines = append(r.lines, slices.DeleteFunc(found, func(l line) bool { return !wanted(l.row) })...)
	}
	slices.SortStableFunc(r.lines, func(a, b line) int { return a.row - b.row })
	return failed
}
