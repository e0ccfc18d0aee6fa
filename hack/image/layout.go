package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// writeLayout writes an OCI image layout as a tar file whose entries have no
// times and no owners. It has the name of the image, for container engines that load it.
func writeLayout(out string, index v1.ImageIndex, repository, version string) error {
	dir, err := os.MkdirTemp("", "graphview-layout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          repository + ":" + version,
		"org.opencontainers.image.ref.name": version,
	})); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	w := tar.NewWriter(file)
	// WalkDir goes in lexical order.
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return add(w, dir, name)
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return file.Close()
}

// readLayout reads a file of writeLayout. The index reads from dir.
func readLayout(file, dir string) (v1.ImageIndex, error) {
	archive, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if !filepath.IsLocal(header.Name) {
			return nil, fmt.Errorf("%s has the name %q, which leads out of it", file, header.Name)
		}
		if err := extract(r, filepath.Join(dir, filepath.FromSlash(header.Name))); err != nil {
			return nil, err
		}
	}
	path, err := layout.FromPath(dir)
	if err != nil {
		return nil, err
	}
	outer, err := path.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s has %d images, expected 1", file, len(manifest.Manifests))
	}
	return outer.ImageIndex(manifest.Manifests[0].Digest)
}

func extract(from io.Reader, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	return file.Close()
}

func add(w *tar.Writer, dir, name string) error {
	relative, err := filepath.Rel(dir, name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(relative), Mode: 0o444, Size: info.Size(), Format: tar.FormatUSTAR}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}
