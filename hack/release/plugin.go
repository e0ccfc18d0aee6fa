package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

const plugin = "kubectl-graphview"

// archive is a plugin for a platform.
type archive struct {
	OS, Arch, Program string
	file
}

// makePlugins compiles the plugin for each platform, packs it with what belongs to
// it, and writes the manifest that krew installs them by.
func (r *release) makePlugins(ctx context.Context) error {
	programs, err := os.MkdirTemp("", "graphview-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	for _, platform := range r.plugins {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("a platform is system/architecture, not %q", platform)
		}
		fmt.Println("release: plugin for", platform)
		path := filepath.Join(programs, strings.Join([]string{plugin, system, architecture}, "_"))
		if err := r.compile(ctx, path, system, architecture); err != nil {
			return err
		}
		if err := r.describe(path); err != nil {
			return err
		}
		if err := r.packPlugin(path, system, architecture); err != nil {
			return err
		}
	}
	return r.writeManifest()
}

// writeManifest writes krew's manifest of the archives that were packed.
func (r *release) writeManifest() error {
	var manifest strings.Builder
	err := krew.Execute(&manifest, map[string]any{
		"Version": r.version, "URL": strings.TrimSuffix(r.download, "/") + "/" + r.version, "Archives": r.archives,
	})
	if err != nil {
		return err
	}
	return r.publish("graphview.yaml", []byte(manifest.String()))
}

func (r *release) compile(ctx context.Context, out, system, architecture string) error {
	run := command(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w -X main.version="+r.version, "-o", out, "./cmd/"+plugin)
	run.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture, "GOFLAGS=", "GOWORK=off")
	if text, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("compile for %s/%s: %w\n%s", system, architecture, err, text)
	}
	return nil
}

// packPlugin makes an archive as each system knows it.
func (r *release) packPlugin(path, system, architecture string) error {
	contents := map[string][]byte{}
	for name, file := range map[string]string{"program": path, "LICENSE": "LICENSE", "completion": "cmd/" + plugin + "/kubectl_complete-graphview"} {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		contents[name] = content
	}
	program, suffix, pack := plugin, ".tar.gz", tarball
	entries := []entry{{name: "LICENSE", content: contents["LICENSE"]}}
	if system == "windows" {
		program, suffix, pack = plugin+".exe", ".zip", zipped
	} else {
		entries = append(entries, entry{name: "kubectl_complete-graphview", program: true, content: contents["completion"]})
	}
	entries = append(entries, entry{name: program, program: true, content: contents["program"]})
	packed, err := pack(entries)
	if err != nil {
		return err
	}
	name := strings.Join([]string{plugin, r.version, system, architecture}, "_") + suffix
	if err := r.publish(name, packed); err != nil {
		return err
	}
	file, err := digest(r.path(name))
	r.archives = append(r.archives, archive{OS: system, Arch: architecture, Program: program, file: file})
	return err
}

// krew is the manifest of the plugin manager. Windows on arm64 runs programs for amd64.
var krew = template.Must(template.New("krew").Parse(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: graphview
spec:
  version: {{ .Version }}
  homepage: https://graphview.dev
  shortDescription: Show what owns, uses and misses what
  description: |
    Draws the live graph of objects and of the references between them: as a tree,
    in a browser, or for another program. It says which objects are degraded or
    missing, what refers to an object, and what depends on it.
  caveats: |
    The operator GraphView has to run in the cluster: https://graphview.dev
  platforms:
{{- range .Archives }}
  - selector:
      matchLabels: {os: {{ .OS }}{{ if ne .OS "windows" }}, arch: {{ .Arch }}{{ end }}}
    uri: {{ $.URL }}/{{ .Name }}
    sha256: {{ .Digest }}
    bin: {{ .Program }}
{{- end }}
`))
