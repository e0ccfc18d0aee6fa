package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
)

// loadVersion is to be changed with what furnish makes.
const loadVersion = 1

// planeArgs lift the API server's own limits, which are not what is measured. Pods need
// no ServiceAccount: nobody makes any.
var planeArgs = []string{
	"--disable-admission-plugins=ServiceAccount",
	"--max-requests-inflight=0", "--max-mutating-requests-inflight=0", "--enable-priority-and-fairness=false",
}

// loaded starts a control plane that has the objects. Those that were made before are
// copied from bin/bench.
func (b *bench) loaded(ctx context.Context, root string) (*env.ControlPlane, error) {
	saved := filepath.Join(root, "bin", "bench", fmt.Sprintf("replicas-%d-%d-%d", loadVersion, b.objects, b.namespaces))
	if b.fresh {
		if err := os.RemoveAll(saved); err != nil {
			return nil, fmt.Errorf("remove the saved objects: %w", err)
		}
	}
	o := env.Options{APIServerArgs: planeArgs}
	if _, err := os.Stat(saved); err == nil {
		fmt.Fprintln(os.Stderr, "objects of an earlier run:", saved)
		o.Data = saved
		return env.Start(ctx, o)
	}
	plane, err := env.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := b.fill(ctx, plane, saved); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}

// fill makes the objects and saves them.
func (b *bench) fill(ctx context.Context, plane *env.ControlPlane, saved string) error {
	if err := b.furnish(ctx, plane); err != nil {
		return fmt.Errorf("make objects: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(saved), 0o755); err != nil {
		return fmt.Errorf("save the objects: %w", err)
	}
	return plane.SaveData(ctx, saved)
}
