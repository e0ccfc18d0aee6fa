package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"graphview.dev/test/bench/document"
	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
	"graphview.dev/test/peers"
)

const (
	tableBegins = "<!-- replicas:start, written by go run ./test/bench/replicas -->"
	tableEnds   = "<!-- replicas:end -->"
	// patience bounds everything that is waited for: five replicas that begin at once on a
	// busy machine read 100,000 objects each.
	patience = 15 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "replicas:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	plane      *env.ControlPlane
	binary     string
	objects    int
	namespaces int
	rounds     int
	profiles   string
	fresh      bool
	table      strings.Builder
}

func run(ctx context.Context) (err error) {
	b := &bench{}
	path := flag.String("document", "docs/sizing.md", "the document to write the tables into, from the module's root; empty: none")
	parts := flag.String("parts", "memory,readers,latency,deaths", "what to measure")
	flag.IntVar(&b.objects, "objects", 13_000, "about how many objects there are")
	flag.IntVar(&b.namespaces, "namespaces", 90, "how many namespaces they are in, each with a view of its own")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each death is measured, of which the tables have the median")
	flag.StringVar(&b.profiles, "profiles", "", "a directory for heap profiles of what is measured; empty: none")
	flag.BoolVar(&b.fresh, "fresh", false, "make the objects anew, though bin/bench has them of an earlier run")
	flag.Parse()
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	if b.plane, err = b.loaded(ctx, root); err != nil {
		return fmt.Errorf("start a control plane: %w", err)
	}
	defer func() { err = errors.Join(err, b.plane.Stop()) }()
	if err := peers.Install(ctx, b.plane, root); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if b.binary, err = fixture.Build(ctx, root, "manager"); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{{"memory", b.memory}, {"readers", b.readers}, {"latency", b.latency}, {"deaths", b.deaths}} {
		if !strings.Contains(","+*parts+",", ","+part.name+",") {
			continue
		}
		if err := part.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if *path == "" {
		return nil
	}
	return document.Replace(filepath.Join(root, *path), tableBegins, tableEnds, "\n"+b.table.String()+"\n")
}

// say writes a line of the tables.
func (b *bench) say(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
	fmt.Fprintf(&b.table, format+"\n", args...)
}
