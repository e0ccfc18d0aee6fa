package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"graphview.dev/test/must"
)

// makeImage builds the image with hack/image, which is a separate module.
func (r *release) makeImage(ctx context.Context) {
	root := must.Get(filepath.Abs("."))
	out := must.Get(filepath.Abs(r.path("graphview-image-" + r.version + ".tar")))
	programs := must.Get(os.MkdirTemp("", "graphview-release-"))
	defer os.RemoveAll(programs)
	run := command(ctx, "go", "run", ".", "-root", root, "-out", out, "-keep", programs,
		"-repository", r.registry+"/manager", "-version", r.version, "-platforms", strings.Join(r.images, ","))
	run.Dir = filepath.Join(root, "hack", "image")
	combined(run)
	for _, platform := range r.images {
		r.describe(filepath.Join(programs, "manager_"+strings.ReplaceAll(platform, "/", "_")))
	}
}
