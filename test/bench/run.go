package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"graphview.dev/test/bench/document"
	"graphview.dev/test/env"
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
	do   func(context.Context, *bench) ([]line, error)
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
func run(ctx context.Context, o options) (err error) {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	b := &bench{options: o, root: root, samples: map[string][]sample{}}
	if err := b.start(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			fmt.Fprint(os.Stderr, b.plane.Logs()) // they go with the control plane
		}
		err = errors.Join(err, b.plane.Stop())
	}()
	about, err := describe(b.plane)
	if err != nil {
		return err
	}
	started := time.Now()
	lines, failed := b.measureAll(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var graph string
	if failed == nil {
		// Last, so that what all the rest did to the cluster is in it.
		graph, failed = b.verified(ctx)
	}
	text := (&report{machine: about, options: o, bytes: b.listed(), graph: graph, lines: lines, took: time.Since(started)}).render()
	fmt.Print(text)
	if failed == nil && o.document != "" && len(o.rows) == lastRow && !o.alone {
		failed = document.Replace(filepath.Join(root, o.document), tableBegins, tableEnds, text)
	}
	if failed == nil && o.profiles != "" {
		failed = b.profile(ctx, filepath.Join(root, o.profiles), about)
	}
	return failed
}

// start brings the control plane up, with the load and the operator's
// manifests.
func (b *bench) start(ctx context.Context) (err error) {
	if b.plane, err = b.loaded(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.plane.Stop())
		}
	}()
	if err := operator.Install(ctx, b.plane, b.root); err != nil {
		return err
	}
	if b.managers, err = newManagers(ctx, b.plane, b.root, b.settle); err != nil {
		return err
	}
	// The first list of a resource finds the API server cold.
	_, err = b.child(ctx, "floor", 0)
	return err
}

// measureAll measures the rows that are asked for. One after another, never two
// at a time: the machine has few cores.
func (b *bench) measureAll(ctx context.Context) (lines []line, failed error) {
	for _, measure := range measures {
		wanted := func(row int) bool { return slices.Contains(b.rows, row) }
		if !slices.ContainsFunc(measure.rows, wanted) {
			continue
		}
		fmt.Fprintf(os.Stderr, "rows %v: %s\n", measure.rows, measure.name)
		found, err := measure.do(ctx, b)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", measure.name, err))
			for _, row := range measure.rows {
				found = append(found, line{row: row, what: measure.name + ": could not be measured", ours: nothing, floor: nothing, peer: nothing})
			}
		}
		lines = append(lines, slices.DeleteFunc(found, func(l line) bool { return !wanted(l.row) })...)
		if ctx.Err() != nil {
			break
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.row - b.row })
	return lines, failed
}

// child measures a process of this program against the control plane.
func (b *bench) child(ctx context.Context, name string, settle time.Duration, args ...string) (sample, error) {
	return measureChild(ctx, b.plane, name, settle, args...)
}
