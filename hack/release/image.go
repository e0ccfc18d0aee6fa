package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// makeImage has hack/image build it, which is a module of its own.
func (r *release) makeImage(ctx context.Context) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	out, err := filepath.Abs(r.path("graphview-image-" + r.version + ".tar"))
	if err != nil {
		return err
	}
	programs, err := os.MkdirTemp("", "graphview-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	run := command(ctx, "go", "run", ".", "-root", root, "-out", out, "-keep", programs,
		"-repository", r.registry+"/manager", "-version", r.version, "-platforms", strings.Join(r.images, ","))
	run.Dir = filepath.Join(root, "hack", "image")
	if text, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	for _, platform := range r.images {
		if err := r.describe(filepath.Join(programs, "manager_"+strings.ReplaceAll(platform, "/", "_"))); err != nil {
			return err
		}
	}
	return nil
}
