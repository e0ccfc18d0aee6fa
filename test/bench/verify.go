package main

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"graphview.dev/test/oracle"
)

// errWrongGraph: nothing that was measured counts.
var errWrongGraph = errors.New("the subscriber's graph is not the cluster's")

// verify compares what the subscriber was sent with the graph of fresh lists,
// and returns that.
func verify(ctx context.Context, config *rest.Config, frames [][]byte) (oracle.Graph, error) {
	client := oracle.Client{Strict: true}
	for _, frame := range frames {
		if err := client.Apply(frame); err != nil {
			return oracle.Graph{}, fmt.Errorf("the subscriber's messages: %w", err)
		}
	}
	wanted, err := oracle.ParseView([]byte(viewManifest))
	if err != nil {
		return oracle.Graph{}, err
	}
	want, err := oracle.Build(ctx, config, wanted)
	if err != nil {
		return oracle.Graph{}, fmt.Errorf("oracle: %w", err)
	}
	if diff := oracle.Compare(want, client.Graph()); diff != "" {
		return oracle.Graph{}, fmt.Errorf("%w:\n%s", errWrongGraph, diff)
	}
	if warnings := client.Warnings(); len(warnings) > 0 {
		return oracle.Graph{}, fmt.Errorf("%w: it came with warnings: %v", errWrongGraph, warnings)
	}
	return want, nil
}
