package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The page's modules are bundled into these, each of which names the others by
// where it finds them. The worker has the engine in itself, so that it begins with one
// request; where a policy forbids a worker, the page loads the engine as one of its own.
// What is whole has all of them in itself.
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

// inOneFile tells the modules that there is no file for a worker.
const inOneFile = "--define:GRAPH_VIEW_IN_ONE_FILE=true"

func main() {
	root := flag.String("root", ".", "the module's directory")
	out := flag.String("out", filepath.Join("dashboard", "dist"), "where the page's files are written")
	single := flag.String("single", "", "one more file to write: all of <graph-view>, for other pages")
	flag.Parse()
	if err := run(*root, *out, *single); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(root, out, single string) (err error) {
	dir, err := os.MkdirTemp("", "graph-view-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The modules as they refer to one another: the client is a folder of the page.
	err = errors.Join(os.CopyFS(dir, os.DirFS(filepath.Join(root, "dashboard", "web"))),
		os.CopyFS(filepath.Join(dir, "client"), os.DirFS(filepath.Join(root, "client", "js"))))
	if err != nil {
		return err
	}
	if single != "" {
		return bundle(filepath.Join(dir, "graph-view.js"), single, inOneFile)
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
		if err := bundle(filepath.Join(dir, filepath.FromSlash(entry.name)), to, options...); err != nil {
			return err
		}
	}
	return nil
}

func bundle(from, to string, options ...string) error {
	options = append([]string{"tool", "esbuild", from, "--bundle", "--minify", "--format=esm", "--target=es2022",
		"--legal-comments=none", "--log-level=warning", "--outfile=" + to}, options...)
	command := exec.Command("go", options...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("esbuild %s: %w", filepath.Base(from), err)
	}
	return nil
}
