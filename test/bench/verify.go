package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"k8s.io/client-go/rest"

	"graphview.dev/test/must"
	"graphview.dev/test/oracle"
)

// errWrongGraph: nothing that was measured counts.
var errWrongGraph = errors.New("the subscriber's graph is not the cluster's")

// verified runs the operator once more and compares what a subscriber gets with
// the graph of fresh lists, in a process of its own: decoded, both are large.
func (b *bench) verified(ctx context.Context) (text string) {
	r := b.managers.start(ctx, whole)
	defer must.End(func() error { return r.end(ctx) })
	r.create(ctx)
	s := b.child(ctx, task{Name: "verify", URL: r.URL()})
	return fmt.Sprintf("at the end %d vertices and %d arcs, as the oracle has them", s.Objects, s.Arcs)
}

// runVerify is that process.
func runVerify(ctx context.Context, c *child) {
	debug.SetGCPercent(25)
	d := newDialer(c.config, c.URL, func() error { return nil })
	defer d.close()
	conn := must.Get(d.dial(ctx, c.view, ""))
	defer closeAll(conn)
	// Strict where it can be: to look at the whole graph at each revision takes
	// long while it is growing.
	client := oracle.Client{}
	must.Get(follow(ctx, conn, client.Apply))
	graph := wanted(ctx, c.config, c.view)
	c.Objects, c.Arcs = len(graph.Vertices), len(graph.Arcs)
	compare(graph, &client)
}

// wanted is the graph of fresh lists.
func wanted(ctx context.Context, config *rest.Config, l lens) oracle.Graph {
	return must.Get(oracle.Build(ctx, config, l.view()))
}

// compare wants a client to have a graph.
func compare(want oracle.Graph, client *oracle.Client) {
	if diff := oracle.Compare(want, client.Graph()); diff != "" {
		must.Do(fmt.Errorf("%w:\n%s", errWrongGraph, diff))
	}
	if warnings := client.Warnings(); len(warnings) > 0 {
		must.Do(fmt.Errorf("%w: it came with warnings: %v", errWrongGraph, warnings))
	}
}
