package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
)

// loadVersion must change with the content that furnish makes.
const loadVersion = 1

// planeArgs lift the API server's own limits, which the benchmark does not measure. Pods
// need no ServiceAccount, because no controller creates any.
var planeArgs = []string{
	"--disable-admission-plugins=ServiceAccount",
	"--max-requests-inflight=0", "--max-mutating-requests-inflight=0", "--enable-priority-and-fairness=false",
}

// loaded starts a control plane that has the objects. Those that were made before are
// copied from bin/bench.
func (b *bench) loaded(ctx context.Context, root string) (*env.ControlPlane, error) {
	saved := filepath.Join(root, "bin", "bench", fmt.Sprintf("replicas-%d-%d-%d", loadVersion, b.objects, b.namespaces))
	return env.StartFilled(ctx, env.Options{APIServerArgs: planeArgs, Log: os.Stderr}, saved, b.fresh, func(ctx context.Context, plane *env.ControlPlane) error {
		if err := b.furnish(ctx, plane); err != nil {
			return fmt.Errorf("make objects: %w", err)
		}
		return nil
	})
}
