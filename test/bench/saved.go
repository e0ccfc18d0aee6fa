package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

// loadVersion must change with the content of the load.
const loadVersion = 2

// loaded starts a control plane that has the load. It copies the load of an earlier run from
// bin/bench: to create a large one takes minutes.
func (b *bench) loaded(ctx context.Context) *env.ControlPlane {
	saved := filepath.Join(b.root, "bin", "bench", fmt.Sprintf("load-%d-%d-%d-%d", loadVersion, b.shape.namespaces, b.shape.applications, b.shape.pods))
	return must.Get(env.StartFilled(ctx, env.Options{APIServerArgs: env.Unlimited, Log: os.Stderr}, saved, b.fresh, func(ctx context.Context, plane *env.ControlPlane) error {
		return must.Try(func() { createLoad(ctx, plane.Config(), b.shape) })
	}))
}
