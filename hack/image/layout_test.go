package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TestLayout writes an image of bytes that are no program twice, and reads it. test/image builds
// the operator's, at night.
func TestLayout(t *testing.T) {
	var files [2][]byte
	path := filepath.Join(t.TempDir(), "image.tar")
	for i := range files {
		image, err := imageOf([]byte("a program"), "v1.2.3", "linux", "arm64")
		if err != nil {
			t.Fatal(err)
		}
		index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}},
		})
		if err := writeLayout(path, index, "graphview.dev/manager", "v1.2.3"); err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same program gives other bytes")
	}

	index, err := readLayout(path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Platform.Architecture != "arm64" {
		t.Fatalf("the index has %+v", manifest.Manifests)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := file.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/manager"}) || file.Architecture != "arm64" {
		t.Errorf("the image is configured as %+v", c)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	layer, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer layer.Close()
	var archive bytes.Buffer
	if _, err := archive.ReadFrom(layer); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(archive.Bytes(), []byte("a program")) {
		t.Error("the layer lacks the program")
	}
}
