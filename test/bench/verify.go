package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"graphview.dev/test/must"
	"graphview.dev/test/oracle"
)

// errWrongGraph makes all measurements of the run void.
var errWrongGraph = errors.New("the subscriber's graph is not the cluster's")

// verified runs the operator once more and compares the graph of a subscriber with
// the graph of fresh lists. A separate process decodes both graphs, which are large.
func (b *bench) verified(ctx context.Context) (text string) {
	r := b.managers.start(ctx, whole)
	defer must.End(func() error { return r.end(ctx) })
	r.create(ctx)
	s := b.child(ctx, task{Name: "verify", URL: r.URL()})
	return fmt.Sprintf("at the end %d vertices and %d arcs, as the oracle has them", s.Objects, s.Arcs)
}

// runVerify is the separate process. Its client is not strict: to check the whole graph at each revision
// takes long while the graph grows.
func runVerify(ctx context.Context, c *child) {
	debug.SetGCPercent(25)
	d := newDialer(c.config, c.URL, func() error { return nil })
	defer d.close()
	conn := must.Get(d.dial(ctx, whole, ""))
	defer closeAll(conn)
	client := oracle.Client{}
	must.Get(follow(ctx, conn, client.Apply))
	want := must.Get(oracle.Build(ctx, c.config, whole.view()))
	c.Objects, c.Arcs = len(want.Vertices), len(want.Arcs)
	if diff := oracle.Compare(want, client.Graph()); diff != "" {
		must.Do(fmt.Errorf("%w:\n%s", errWrongGraph, diff))
	}
	if warnings := client.Warnings(); len(warnings) > 0 {
		must.Do(fmt.Errorf("%w: it came with warnings: %v", errWrongGraph, warnings))
	}
}
