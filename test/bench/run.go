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
	program  string // of the children: ./test/bench of the module
	engine   string // the same of the measured commit, for those of ofEngine
	managers *managers
	samples  map[string][]sample // of rows 1 and 3, by the measured program
	// changes numbers the changes of all rows. The API server sends no event for a pod that a
	// change left as it was, so no number comes twice.
	changes *int
	other   *bench // of the commit in -beside, nil without
}

// measure fills some rows of the table.
type measure struct {
	name string
	rows []int
	do   func(context.Context, *bench) []line
}

// measures returns all measures in the order of a run.
func measures() []measure {
	return []measure{
		{"cold start and memory", []int{1, 3}, coldStart},
		{"latency", []int{4}, latency},
		{"one core", []int{5}, oneCore},
		{"the graph alone", []int{6}, graphAlone},
		{"many subscribers", []int{9}, manySubscribers},
		{"many views", []int{11}, manyViews},
		{"neighbours", []int{13}, neighbours},
		{"health", []int{14}, healthCost},
		{"a million objects", []int{16}, million},
	}
}

// rows returns the numbers of all rows.
func rows() (all []int) {
	for _, m := range measures() {
		all = append(all, m.rows...)
	}
	return all
}

// run runs the whole benchmark. If a row cannot be measured, the table and the error say so,
// and the other rows are measured.
func run(ctx context.Context, o options) {
	b := &bench{options: o, root: must.Get(env.ModuleRoot()), program: must.Get(os.Executable()), samples: map[string][]sample{}, changes: new(int)}
	b.engine = b.program
	b.plane = b.loaded(ctx)
	defer must.End(b.plane.Stop)
	if err := must.Try(func() { b.run(ctx) }); err != nil {
		if ctx.Err() == nil {
			fmt.Fprint(os.Stderr, b.plane.Logs()) // they are deleted with the control plane
		}
		must.Do(err)
	}
}

func (b *bench) run(ctx context.Context) {
	must.Do(operator.Install(ctx, b.plane, b.root))
	b.managers = newManagers(ctx, b.plane, b.root, "manager", b.settle)
	b.child(ctx, task{Name: "floor"}) // the first list of a resource finds the API server cold
	r := &report{machine: describe(b.plane), options: b.options}
	started := time.Now()
	failed := b.measureAll(ctx, r)
	must.Do(context.Cause(ctx))
	if failed == nil {
		// The last step, so that it sees the effects of all rows on the cluster.
		failed = must.Try(func() { r.graph = b.verified(ctx) })
	}
	r.bytes, r.took = b.listed(), time.Since(started)
	text := r.render()
	fmt.Print(text)
	must.Do(failed)
	if b.document != "" && len(b.rows) == len(rows()) && !b.alone && b.busy == 0 && b.beside == "" {
		must.Do(document.Replace(filepath.Join(b.root, b.document), tableBegins, tableEnds, text))
	}
}

// measureAll measures the chosen rows one after another. Two at a time would compete for the few
// cores of the machine.
func (b *bench) measureAll(ctx context.Context, r *report) (failed error) {
	if b.beside != "" {
		b.other = b.besideOf(ctx)
	}
	for _, m := range measures() {
		chosen := func(row int) bool { return slices.Contains(b.rows, row) }
		if !slices.ContainsFunc(m.rows, chosen) || ctx.Err() != nil {
			continue
		}
		found, err := b.measured(ctx, m)
		failed = errors.Join(failed, err)
		if b.other != nil && ctx.Err() == nil {
			others, err := b.other.measured(ctx, m)
			failed = errors.Join(failed, err)
			found = compared(found, others, filepath.Base(b.beside))
		}
		r.lines = append(r.lines, slices.DeleteFunc(found, func(l line) bool { return !chosen(l.row) })...)
	}
	slices.SortStableFunc(r.lines, func(a, b line) int { return a.row - b.row })
	return failed
}

// measured returns the lines of a measure. If it fails, they say so.
func (b *bench) measured(ctx context.Context, m measure) (found []line, failed error) {
	started := time.Now()
	if err := must.Try(func() { found = m.do(ctx, b) }); err != nil {
		failed = fmt.Errorf("%s: %w", m.name, err)
		for _, row := range m.rows {
			found = append(found, line{row: row, what: m.name + ": could not be measured"})
		}
	}
	fmt.Fprintf(os.Stderr, "rows %v: %s: %.1f min\n", m.rows, m.name, time.Since(started).Minutes())
	return found, failed
}
