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
)

// The image's name in the repository.
const (
	unreleased    = "graphview.dev/manager"
	unreleasedTag = unreleased + ":latest"
)

// makeChart packs charts/graphview, with the version and the image of the release.
func (r *release) makeChart(context.Context) error {
	const folder = "charts/graphview"
	var entries []entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".helmignore" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch name {
		case "Chart.yaml":
			content, err = replaced(content, map[string]string{
				"\nversion: 0.1.0\n":                        "\nversion: " + r.plain() + "\n",
				"\nappVersion: 0.1.0\n":                     "\nappVersion: " + r.version + "\n",
				"\n  artifacthub.io/prerelease: \"true\"\n": fmt.Sprintf("\n  artifacthub.io/prerelease: %q\n", fmt.Sprint(strings.Contains(r.version, "-"))),
			})
		case "values.yaml":
			content, err = replaced(content, map[string]string{"\n  repository: " + unreleased + "\n": "\n  repository: " + r.registry + "/manager\n"})
		}
		entries = append(entries, entry{name: "graphview/" + name, content: content})
		return err
	})
	if err != nil {
		return err
	}
	content, err := tarball(entries)
	if err != nil {
		return err
	}
	return r.publish("graphview-chart-"+r.plain()+".tgz", content)
}

// makeManifests builds config/default and config/crd for kubectl, with the image of
// the release.
func (r *release) makeManifests(context.Context) error {
	for name, folder := range map[string]string{"install.yaml": "config/default", "crds.yaml": "config/crd"} {
		resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
		if err != nil {
			return err
		}
		content, err := resources.AsYaml()
		if err != nil {
			return err
		}
		if name == "install.yaml" {
			if content, err = replaced(content, map[string]string{unreleasedTag: r.registry + "/manager:" + r.version}); err != nil {
				return err
			}
		}
		if err := r.publish(name, content); err != nil {
			return err
		}
	}
	return nil
}

// replaced replaces texts. Each of them must occur exactly once.
func replaced(content []byte, texts map[string]string) ([]byte, error) {
	for before, after := range texts {
		if n := bytes.Count(content, []byte(before)); n != 1 {
			return nil, fmt.Errorf("%q is there %d times, expected once", before, n)
		}
		content = bytes.Replace(content, []byte(before), []byte(after), 1)
	}
	return content, nil
}
