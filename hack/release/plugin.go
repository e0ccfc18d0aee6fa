package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"graphview.dev/test/must"
)

const plugin = "kubectl-graphview"

// archive is a plugin for a platform.
type archive struct {
	OS, Arch, Program string
	file
}

// makePlugins compiles the plugin for each platform, packs it with its license and its completion
// program, and writes krew's manifest.
func (r *release) makePlugins(ctx context.Context) {
	programs := must.Get(os.MkdirTemp("", "graphview-release-"))
	defer os.RemoveAll(programs)
	for _, platform := range r.plugins {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok {
			must.Do(fmt.Errorf("a platform is system/architecture, not %q", platform))
		}
		fmt.Println("release: plugin for", platform)
		path := filepath.Join(programs, strings.Join([]string{plugin, system, architecture}, "_"))
		r.compile(ctx, path, system, architecture)
		r.describe(path)
		r.packPlugin(path, system, architecture)
	}
	r.writeManifest()
}

// writeManifest writes krew's manifest of the packed archives.
func (r *release) writeManifest() {
	var manifest strings.Builder
	must.Do(krew.Execute(&manifest, map[string]any{
		"Version": r.version, "URL": strings.TrimSuffix(r.download, "/") + "/" + r.version, "Archives": r.archives,
	}))
	r.publish("graphview.yaml", []byte(manifest.String()))
}

func (r *release) compile(ctx context.Context, out, system, architecture string) {
	run := command(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "grpcnotrace", "-ldflags", "-s -w -X main.version="+r.version, "-o", out, "./cmd/"+plugin)
	run.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture, "GOFLAGS=", "GOWORK=off")
	combined(run)
}

// packPlugin packs a .zip for Windows, and a .tar.gz for other systems.
func (r *release) packPlugin(path, system, architecture string) {
	contents := map[string][]byte{}
	for name, file := range map[string]string{"program": path, "LICENSE": "LICENSE", "completion": "cmd/" + plugin + "/kubectl_complete-graphview"} {
		content := must.Get(os.ReadFile(file))
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
	packed := pack(entries)
	name := strings.Join([]string{plugin, r.version, system, architecture}, "_") + suffix
	r.publish(name, packed)
	r.archives = append(r.archives, archive{OS: system, Arch: architecture, Program: program, file: digest(r.path(name))})
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
    With --local the plugin needs nothing in the cluster, and with --from no cluster.
  platforms:
{{- range .Archives }}
  - selector:
      matchLabels: {os: {{ .OS }}{{ if ne .OS "windows" }}, arch: {{ .Arch }}{{ end }}}
    uri: {{ $.URL }}/{{ .Name }}
    sha256: {{ .Digest }}
    bin: {{ .Program }}
{{- end }}
`))
