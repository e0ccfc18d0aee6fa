package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"graphview.dev/dashboard"
)

func main() {
	out := flag.String("out", filepath.Join("bin", "graph-view.js"), "the file to write")
	flag.Parse()
	if err := bundle(*out); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func bundle(out string) (err error) {
	files, err := dashboard.Files()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "graph-view-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
	}
	command := exec.Command("go", "tool", "esbuild", filepath.Join(dir, "graph-view.js"), "--bundle", "--minify", "--format=esm",
		"--target=es2022", "--legal-comments=none", "--log-level=warning", "--outfile="+out)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("esbuild: %w", err)
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", out, info.Size())
	return nil
}
