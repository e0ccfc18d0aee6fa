package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"

	"graphview.dev/test/must"
)

// entries are the bundles of the page's modules. A bundle imports the others by their
// relative path. The worker contains the engine, so that it starts with one request; if a
// policy forbids workers, the page loads the engine as a module. A whole bundle imports
// nothing.
var entries = []struct {
	name   string
	others []string
	whole  bool
}{
	{name: "main.js", others: []string{"./link.js", "./graph-view.js"}},
	{name: "link.js", others: []string{"./model/engine.js"}},
	{name: "graph-view.js", others: []string{"./link.js", "./export.js"}},
	{name: "export.js"},
	{name: "worker.js"},
	{name: "model/engine.js"},
	{name: "snapshot.js", whole: true},
}

// inOneFile is defined in a bundle that has no separate file for a worker.
const inOneFile = "--define:GRAPH_VIEW_IN_ONE_FILE=true"

func main() {
	root := flag.String("root", ".", "the module's directory")
	out := flag.String("out", filepath.Join("dashboard", "dist"), "where the page's files are written")
	single := flag.String("single", "", "one more file to write: all of <graph-view>, for other pages")
	flag.Parse()
	must.Main("bundle", func(context.Context) { run(*root, *out, *single) })
}

func run(root, out, single string) {
	dir := filepath.Join(root, "dashboard", "web")
	if single != "" {
		bundle(filepath.Join(dir, "graph-view.js"), single, inOneFile)
		return
	}
	for _, entry := range entries {
		to := filepath.Join(out, filepath.FromSlash(entry.name))
		var options []string
		for _, other := range entry.others {
			options = append(options, "--external:"+other)
		}
		if entry.whole {
			options = append(options, inOneFile)
		}
		bundle(filepath.Join(dir, filepath.FromSlash(entry.name)), to, options...)
	}
}

func bundle(from, to string, options ...string) {
	options = append([]string{"tool", "esbuild", from, "--bundle", "--minify", "--format=esm", "--target=es2022",
		"--legal-comments=none", "--log-level=warning", "--outfile=" + to}, options...)
	command := exec.Command("go", options...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	must.Do(command.Run())
}
