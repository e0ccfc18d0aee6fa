package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// build returns an index with an image for each platform. It also writes the programs into the
// folder keep, unless that is empty.
func build(ctx context.Context, root, version, keep string, platforms []string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok {
			return nil, fmt.Errorf("a platform is system/architecture, not %q", platform)
		}
		program, err := compile(ctx, root, version, system, architecture)
		if err != nil {
			return nil, err
		}
		if keep != "" {
			if err := os.WriteFile(filepath.Join(keep, "manager_"+system+"_"+architecture), program, 0o755); err != nil { //nolint:gosec // it is a program
				return nil, err
			}
		}
		image, err := imageOf(program, version, system, architecture)
		if err != nil {
			return nil, fmt.Errorf("image for %s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: system, Architecture: architecture}},
		})
	}
	return index, nil
}

// compile builds the operator without symbols, which stack traces and profiles do not
// need. The tag leaves out gRPC's traces, which come with k8s.io/apiserver and use
// templates: in a program with templates the linker keeps every exported
// method of every type, some 20 MB, most of them in memory.
func compile(ctx context.Context, root, version, system, architecture string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "graphview-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "manager")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w -X main.version="+version, "-o", out, "./cmd/manager")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture, "GOFLAGS=", "GOWORK=off")
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile for %s/%s: %w\n%s", system, architecture, err, text)
	}
	return os.ReadFile(out)
}

// imageOf returns an image with the program alone.
func imageOf(program []byte, version, system, architecture string) (v1.Image, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: "manager", Mode: 0o555, Size: int64(len(program)), Format: tar.FormatUSTAR}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.AppendLayers(image, layer)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = system, architecture
	file.Config = v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/manager"},
		WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":   "graphview",
			"org.opencontainers.image.version": version,
		},
	}
	return mutate.ConfigFile(image, file)
}
