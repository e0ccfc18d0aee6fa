package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"graphview.dev/graphview/refs"
	"graphview.dev/test/env"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	directory := flag.String("crds", "", "print what would be read of the CustomResourceDefinitions in the YAML files of this directory")
	flag.Parse()
	var err error
	if *directory != "" {
		err = printDefinitions(os.Stdout, *directory)
	} else {
		err = run(ctx, os.Stdout)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "refscoverage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	known, err := parseOmissions(omissionsText)
	if err != nil {
		return err
	}
	plane, err := env.Start(ctx, env.Options{APIServerArgs: []string{"--runtime-config=api/all=true"}})
	if err != nil {
		return fmt.Errorf("start a control plane: %w", err)
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	kinds, err := readKinds(ctx, plane.Config())
	if err != nil {
		return fmt.Errorf("read the server's schemas: %w", err)
	}
	rules := refs.BuiltinRules()
	printRows(out, rules)
	return printGaps(out, rules, kinds, known)
}
