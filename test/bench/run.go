package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/dynamic"

	"graphview.dev/test/env"
	"graphview.dev/test/operator"
)

// forLoad lifts the API server's own limits: it is not what is measured.
var forLoad = []string{
	"--max-requests-inflight=0", "--max-mutating-requests-inflight=0", "--enable-priority-and-fairness=false",
}

// results are the samples of all rounds.
type results struct {
	manager []sample
	others  map[string][]sample // by child
	frames  [][]byte            // what the last round's subscriber got
}

// run is a whole benchmark.
func run(ctx context.Context, o options) (err error) {
	plane, err := env.Start(ctx, env.Options{APIServerArgs: forLoad, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			fmt.Fprint(os.Stderr, plane.Logs()) // they go with the control plane
		}
		err = errors.Join(err, plane.Stop())
	}()
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	if err := operator.Install(ctx, plane, root); err != nil {
		return err
	}
	if err := createLoad(ctx, plane.Config(), o.shape, os.Stderr); err != nil {
		return err
	}
	about, err := describe(plane)
	if err != nil {
		return err
	}
	found, err := measureAll(ctx, plane, o)
	if err != nil {
		return err
	}
	graph, err := verify(ctx, plane.Config(), found.frames)
	if err != nil {
		return err
	}
	text := render(&report{machine: about, options: o, results: found, graph: graph})
	fmt.Print(text)
	if o.document == "" {
		return nil
	}
	return replaceTable(filepath.Join(root, o.document), text)
}

// measureAll runs the rounds. One after another, never two at a time: the
// machine has few cores.
func measureAll(ctx context.Context, plane *env.ControlPlane, o options) (*results, error) {
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	manager, err := newManagers(plane, client.Resource(graphViews).Namespace(viewNamespace), o.settle)
	if err != nil {
		return nil, err
	}
	// The first list of a resource finds the API server cold.
	if _, err := measureChild(ctx, plane, "floor", 0); err != nil {
		return nil, err
	}
	found := &results{others: map[string][]sample{}}
	for round := range o.runs {
		for _, name := range []string{"floor", "gzip", "engine", "informers", "stripped"} {
			s, err := measureChild(ctx, plane, name, o.settle)
			if err != nil {
				return nil, err
			}
			found.others[name] = append(found.others[name], s)
			tell(o, round, name, &s)
		}
		s, frames, err := manager.measure(ctx)
		if err != nil {
			return nil, err
		}
		found.manager, found.frames = append(found.manager, s), frames
		tell(o, round, "manager", &s)
	}
	if o.cpuProfile == "" && o.memProfile == "" {
		return found, nil
	}
	// In a round of its own: profiling takes time and memory.
	_, err = measureChild(ctx, plane, "engine", o.settle, "-cpuprofile="+o.cpuProfile, "-memprofile="+o.memProfile)
	return found, err
}

// tell says how a round went.
func tell(o options, round int, name string, s *sample) {
	fmt.Fprintf(os.Stderr, "round %d of %d: %s: %.2f s, of processor time %.2f s\n", round+1, o.runs, name, s.Seconds, s.Processor)
}
