package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"graphview.dev/test/document"
	"graphview.dev/test/env"
)

func main() {
	cold := flag.Bool("cold", false, "begin with an empty build cache, as on a machine that has only downloaded the modules; takes minutes more")
	document := flag.String("document", filepath.Join("docs", "benchmarks.md"), "file to write the tables into, from the module's root; empty: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *cold, *document)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stopwatch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cold bool, path string) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	caches := "with the modules and compiled packages that the machine had"
	if cold {
		caches = "with the modules that the machine had, and nothing compiled"
	}
	first, again, err := firstPicture(ctx, root, cold)
	if err != nil {
		return fmt.Errorf("from git clone to the first picture: %w", err)
	}
	graph, err := ownGraph(ctx, root)
	if err != nil {
		return fmt.Errorf("from a bare control plane to a graph of one's own: %w", err)
	}
	text := fmt.Sprintf("%s: %d cores, %s.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), caches) +
		first.table("from `git clone` to the first picture") + "\n" +
		again.table("`make run` again, in the same clone") + "\n" +
		graph.table("from a bare cluster to a graph of one's own")
	fmt.Print(text)
	if path == "" {
		return nil
	}
	return document.Replace(filepath.Join(root, path), begins, ends, "\n"+text+"\n")
}
