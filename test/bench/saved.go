package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
)

// forLoad lifts the API server's own limits: it is not what is measured.
var forLoad = []string{
	"--max-requests-inflight=0", "--max-mutating-requests-inflight=0", "--enable-priority-and-fairness=false",
}

// loadVersion is to be changed with what the load consists of.
const loadVersion = 1

// loaded starts a control plane that has the load. One that was made before is
// copied from bin/bench, since to make a large one takes minutes.
func (b *bench) loaded(ctx context.Context) (*env.ControlPlane, error) {
	saved := filepath.Join(b.root, "bin", "bench", fmt.Sprintf("load-%d-%d-%d-%d", loadVersion, b.shape.namespaces, b.shape.applications, b.shape.pods))
	if b.fresh {
		if err := os.RemoveAll(saved); err != nil {
			return nil, fmt.Errorf("remove the saved load: %w", err)
		}
	}
	o := env.Options{APIServerArgs: forLoad, Log: os.Stderr}
	if _, err := os.Stat(saved); err == nil {
		o.Data = saved
		fmt.Fprintf(os.Stderr, "load: %d objects, %s, of an earlier run\n", b.shape.objects(), b.shape)
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

// fill makes the load and saves it.
func (b *bench) fill(ctx context.Context, plane *env.ControlPlane, saved string) error {
	if err := createLoad(ctx, plane.Config(), b.shape, os.Stderr); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(saved), 0o755); err != nil {
		return fmt.Errorf("save the load: %w", err)
	}
	return plane.SaveData(ctx, saved)
}
