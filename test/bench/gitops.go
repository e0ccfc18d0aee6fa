package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// buildGitOps compiles Argo CD's cluster cache, which is a module of its own,
// and returns the program's path. Compiled before, it takes a second.
func buildGitOps(ctx context.Context, root string) (path string) {
	path = filepath.Join(root, "bin", "bench", "gitops")
	fmt.Fprintln(os.Stderr, "compiling the gitops-engine peer; the first time takes some minutes")
	compile(ctx, filepath.Join(root, "test", "bench", "gitops"), ".", path)
	return path
}
