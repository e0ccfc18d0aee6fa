package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/coder/websocket"
	"k8s.io/client-go/rest"

	"graphview.dev/test/oracle"
)

// errWrongGraph: nothing that was measured counts.
var errWrongGraph = errors.New("the subscriber's graph is not the cluster's")

// verified runs the operator once more and compares what a subscriber gets with
// the graph of fresh lists, in a process of its own: decoded, both are large.
func (b *bench) verified(ctx context.Context) (text string, err error) {
	r, err := b.managers.start(ctx, whole)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	if _, err := r.create(ctx); err != nil {
		return "", err
	}
	s, err := b.child(ctx, "verify", 0, "-url="+r.URL())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("at the end %d vertices and %d arcs, as the oracle has them", s.Objects, s.Arcs), nil
}

// runVerify is that process.
func runVerify(ctx context.Context, c *child) error {
	debug.SetGCPercent(25)
	d, err := newDialer(c.config, c.url, func() error { return nil })
	if err != nil {
		return err
	}
	defer d.close()
	conn, err := d.dial(ctx, c.view, "")
	if err != nil {
		return err
	}
	defer closeAll([]*websocket.Conn{conn})
	// Strict where it can be: to look at the whole graph at each revision takes
	// long while it is growing.
	client := oracle.Client{}
	if _, err := follow(ctx, conn, client.Apply); err != nil {
		return err
	}
	graph, err := wanted(ctx, c.config, c.view)
	if err != nil {
		return err
	}
	c.Objects, c.Arcs = len(graph.Vertices), len(graph.Arcs)
	return compare(graph, &client)
}

// wanted is the graph of fresh lists.
func wanted(ctx context.Context, config *rest.Config, l lens) (oracle.Graph, error) {
	view, err := oracle.ParseView([]byte(l.manifest()))
	if err != nil {
		return oracle.Graph{}, err
	}
	graph, err := oracle.Build(ctx, config, view)
	if err != nil {
		return oracle.Graph{}, fmt.Errorf("oracle: %w", err)
	}
	return graph, nil
}

// compare wants a client to have a graph.
func compare(want oracle.Graph, client *oracle.Client) error {
	if diff := oracle.Compare(want, client.Graph()); diff != "" {
		return fmt.Errorf("%w:\n%s", errWrongGraph, diff)
	}
	if warnings := client.Warnings(); len(warnings) > 0 {
		return fmt.Errorf("%w: it came with warnings: %v", errWrongGraph, warnings)
	}
	return nil
}
