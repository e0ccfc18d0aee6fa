package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"graphview.dev/test/env"
)

// TestImage builds it twice, in different places.
func TestImage(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	builder := filepath.Join(t.TempDir(), "image")
	compile := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", builder, ".")
	compile.Dir = filepath.Join(root, "hack", "image")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var digests []string
	var files [][]byte
	for range 2 {
		out := filepath.Join(t.TempDir(), "image.tar")
		command := exec.CommandContext(t.Context(), builder, "-root", root, "-out", out, "-version", "v1.2.3", "-platforms", "linux/"+runtime.GOARCH)
		text, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		digest, _, _ := strings.Cut(string(text), " ")
		content, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		digests, files = append(digests, digest), append(files, content)
	}
	if digests[0] != digests[1] || !strings.HasPrefix(digests[0], "sha256:") {
		t.Errorf("the digest is %s, and then %s", digests[0], digests[1])
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the files differ")
	}
	inspect(t, files[0])
}

type descriptor struct {
	Digest   string
	Platform struct{ OS, Architecture string }
}

// inspect follows the layout from its index to the program.
func inspect(t *testing.T, archive []byte) {
	t.Helper()
	entries := untar(t, bytes.NewReader(archive))
	blob := func(d descriptor) []byte { return entries["blobs/"+strings.Replace(d.Digest, ":", "/", 1)] }
	read := func(text []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	var outer, index struct{ Manifests []descriptor }
	read(entries["index.json"], &outer)
	read(blob(outer.Manifests[0]), &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform.Architecture != runtime.GOARCH {
		t.Fatalf("the index has %+v", index.Manifests)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(blob(index.Manifests[0]), &manifest)
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
			Labels     map[string]string
		}
	}
	read(blob(manifest.Config), &config)
	if c := config.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/manager"}) || c.Labels["org.opencontainers.image.version"] != "v1.2.3" {
		t.Errorf("the image is configured as %+v", c)
	}
	if len(manifest.Layers) != 1 {
		t.Fatalf("%d layers", len(manifest.Layers))
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	files := untar(t, unpacked)
	if len(files) != 1 || files["manager"] == nil {
		t.Fatalf("the layer has %d files", len(files))
	}
	if runtime.GOOS != "linux" {
		return // it cannot be run here
	}
	// Nothing is beside it: it runs without a library, a shell or a home.
	program := filepath.Join(t.TempDir(), "manager")
	if err := os.WriteFile(program, files["manager"], 0o700); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "--help")
	command.Env = []string{}
	if out, err := command.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("stream-bind-address")) {
		t.Errorf("%v\n%s", err, out)
	}
	// Function names are there for stack traces. See compile in hack/image/build.go.
	if bytes.Contains(files["manager"], []byte("text/template.(*state).evalField")) {
		t.Error("templates are linked, so that every exported method is")
	}
	if !bytes.Contains(files["manager"], []byte("v1.2.3")) {
		t.Error("the version is not in the program")
	}
}

func untar(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	entries := map[string][]byte{}
	r := tar.NewReader(from)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		if entries[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.IsZero() && header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s tells when and by whom it was made: %+v", header.Name, header)
		}
	}
}
