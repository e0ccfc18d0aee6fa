package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"graphview.dev/test/must"
)

// elementFile has <graph-view> in the package.
const elementFile = "element.js"

// makePackage packs the JavaScript client as `npm pack` does, with <graph-view> in one file.
func (r *release) makePackage(ctx context.Context) {
	const folder = "client/js"
	paths := []string{"LICENSE"}
	for _, pattern := range []string{"package.json", "README.md", "*.js", "*.d.ts"} {
		found := must.Get(filepath.Glob(filepath.Join(folder, pattern)))
		paths = append(paths, found...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == elementFile }) // of an npm pack
	slices.Sort(paths)
	var entries []entry
	for _, path := range paths {
		content := must.Get(os.ReadFile(path))
		name := filepath.Base(path)
		if name == "package.json" {
			content = replaced(content, map[string]string{"\n  \"version\": \"0.0.0\",\n": fmt.Sprintf("\n  \"version\": %q,\n", r.plain())})
		}
		entries = append(entries, entry{name: "package/" + name, content: content})
	}
	page := r.bundledElement(ctx)
	entries = append(entries, entry{name: "package/" + elementFile, content: page})
	content := tarball(entries)
	r.publish("graphview-npm-"+r.plain()+".tgz", content)
}

// makePage writes <graph-view> in one file.
func (r *release) makePage(ctx context.Context) {
	content := r.bundledElement(ctx)
	r.publish("graph-view.js", content)
}

// bundledElement returns <graph-view> in one file, which the package and the page share.
func (r *release) bundledElement(ctx context.Context) []byte {
	if r.element != nil {
		return r.element
	}
	folder := must.Get(os.MkdirTemp("", "graphview-element-"))
	defer must.End(func() error { return os.RemoveAll(folder) })
	path := filepath.Join(folder, "graph-view.js")
	combined(command(ctx, "go", "run", "./hack/bundle", "-single", path))
	r.element = must.Get(os.ReadFile(path))
	return r.element
}
