package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// makePackage packs the JavaScript client as `npm pack` does, with <graph-view> in one file.
func (r *release) makePackage(ctx context.Context) error {
	const folder = "client/js"
	paths := []string{"LICENSE"}
	for _, pattern := range []string{"package.json", "README.md", "*.js", "*.d.ts"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	var entries []entry
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		if name == "package.json" {
			if content, err = replaced(content, map[string]string{"\n  \"version\": \"0.0.0\",\n": fmt.Sprintf("\n  \"version\": %q,\n", r.plain())}); err != nil {
				return err
			}
		}
		entries = append(entries, entry{name: "package/" + name, content: content})
	}
	page, err := r.bundledElement(ctx)
	if err != nil {
		return err
	}
	entries = append(entries, entry{name: "package/element.js", content: page})
	content, err := tarball(entries)
	if err != nil {
		return err
	}
	return r.publish("graphview-npm-"+r.plain()+".tgz", content)
}

// makePage makes the one file of <graph-view>.
func (r *release) makePage(ctx context.Context) error {
	content, err := r.bundledElement(ctx)
	if err != nil {
		return err
	}
	return r.publish("graph-view.js", content)
}

// bundledElement returns <graph-view> in one file, which the package and the page share.
func (r *release) bundledElement(ctx context.Context) (content []byte, err error) {
	if r.element != nil {
		return r.element, nil
	}
	folder, err := os.MkdirTemp("", "graphview-element-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "graph-view.js")
	if text, err := command(ctx, "go", "run", "./hack/bundle", "-single", path).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	r.element, err = os.ReadFile(path)
	return r.element, err
}
