package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"graphview.dev/test/env"
)

// buildGitOps compiles Argo CD's cluster cache, which is a module of its own,
// and returns the program's path. Compiled before, it takes a second.
func buildGitOps(ctx context.Context, root string) (path string, err error) {
	path = filepath.Join(root, "bin", "bench", "gitops")
	fmt.Fprintln(os.Stderr, "compiling the gitops-engine peer; the first time takes some minutes")
	return path, compile(ctx, filepath.Join(root, "test", "bench", "gitops"), ".", path)
}

// measureGitOps is measureChild for that program.
func measureGitOps(ctx context.Context, plane *env.ControlPlane, path, name string, settle time.Duration, args ...string) (sample, error) {
	kinds := make([]string, len(targets))
	for i, target := range targets {
		kinds[i] = target.Group + "/" + target.kind
	}
	return measureProgram(ctx, plane, name, path, append([]string{"-settle=" + settle.String(), "-resources=" + strings.Join(kinds, ",")}, args...)...)
}
