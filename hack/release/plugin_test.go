package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"graphview.dev/test/must"
)

// Each platform's archive is as its system unpacks it, and is what krew's manifest says
// it is. The programs are compiled in test/release for this machine, and by make release
// for all.
func TestPlugins(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	program := filepath.Join(t.TempDir(), plugin)
	if err := os.WriteFile(program, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &release{options: options{version: "v1.2.3", download: "https://example.com/releases/"}, dir: t.TempDir()}
	platforms := []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		if err := must.Try(func() { r.packPlugin(program, system, architecture) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := must.Try(r.writeManifest); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.path("graphview.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	var found []string
	for _, p := range manifest.Spec.Platforms {
		system := p.Selector.MatchLabels["os"]
		architecture, ok := p.Selector.MatchLabels["arch"]
		if !ok {
			architecture = "amd64" // which all of them run
		}
		found = append(found, system+"/"+architecture)
		name, ok := strings.CutPrefix(p.URI, "https://example.com/releases/v1.2.3/")
		if !ok {
			t.Errorf("the address is %s", p.URI)
		}
		content, err := os.ReadFile(r.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != p.SHA256 {
			t.Errorf("%s has another checksum than krew's manifest says", name)
		}
		want := []string{"LICENSE", "kubectl-graphview", "kubectl_complete-graphview"}
		if system == "windows" {
			want = []string{"LICENSE", "kubectl-graphview.exe"}
		}
		programs, err := unpacked(name, content)
		slices.Sort(programs)
		if err != nil || !slices.Equal(programs, want) || !slices.Contains(programs, p.Bin) {
			t.Errorf("%s has %q, want %q and among them %s: %v", name, programs, want, p.Bin, err)
		}
	}
	if !slices.Equal(found, platforms) || manifest.Spec.Version != "v1.2.3" {
		t.Errorf("krew's manifest is of %s for %q, want %q", manifest.Spec.Version, found, platforms)
	}
}

// unpacked are the names of an archive's files.
func unpacked(name string, content []byte) (names []string, err error) {
	if strings.HasSuffix(name, ".zip") {
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, err
		}
		for _, file := range archive.File {
			names = append(names, file.Name)
		}
		return names, nil
	}
	compressed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, header.Name)
	}
}
