package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"graphview.dev/test/must"
)

// The image's name in the repository.
const (
	unreleased    = "graphview.dev/manager"
	unreleasedTag = unreleased + ":latest"
)

// makeChart packs charts/graphview, with the version and the image of the release.
func (r *release) makeChart(context.Context) {
	const folder = "charts/graphview"
	var entries []entry
	must.Do(filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".helmignore" {
			return err
		}
		content := must.Get(os.ReadFile(path))
		name := must.Get(filepath.Rel(folder, path))
		name = filepath.ToSlash(name)
		switch name {
		case "Chart.yaml":
			content = replaced(content, map[string]string{
				"\nversion: 0.1.0\n":                        "\nversion: " + r.plain() + "\n",
				"\nappVersion: 0.1.0\n":                     "\nappVersion: " + r.version + "\n",
				"\n  artifacthub.io/prerelease: \"true\"\n": fmt.Sprintf("\n  artifacthub.io/prerelease: %q\n", fmt.Sprint(strings.Contains(r.version, "-"))),
			})
		case "values.yaml":
			content = replaced(content, map[string]string{"\n  repository: " + unreleased + "\n": "\n  repository: " + r.registry + "/manager\n"})
		}
		entries = append(entries, entry{name: "graphview/" + name, content: content})
		return nil
	}))
	content := tarball(entries)
	r.publish("graphview-chart-"+r.plain()+".tgz", content)
}

// makeManifests builds config/default and config/crd with kustomize, with the image of
// the release.
func (r *release) makeManifests(context.Context) {
	for name, folder := range map[string]string{"install.yaml": "config/default", "crds.yaml": "config/crd"} {
		resources := must.Get(krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder))
		content := must.Get(resources.AsYaml())
		if name == "install.yaml" {
			content = replaced(content, map[string]string{unreleasedTag: r.registry + "/manager:" + r.version})
		}
		r.publish(name, content)
	}
}

// replaced replaces texts. Each of them must occur exactly once.
func replaced(content []byte, texts map[string]string) []byte {
	for before, after := range texts {
		if n := bytes.Count(content, []byte(before)); n != 1 {
			must.Do(fmt.Errorf("%q is there %d times, expected once", before, n))
		}
		content = bytes.Replace(content, []byte(before), []byte(after), 1)
	}
	return content
}
